/** Applies a file as it was planned: model, tables and rights under one lock, whole or not at all. */
import { requireEntitlement } from '../../../core/access/principal.ts'
import { ServiceError } from '../../../core/error.ts'
import type { FileChange } from '../../../core/file/changes.ts'
import { fileFault, membersAt, readJsonBody, textAt, textsAt } from '../../../core/file/reading.ts'
import { loadAccessVersion } from '../../../store/rights.ts'
import { limitFault } from '../../../store/usage.ts'
import { recordWorkspaceEvent } from '../../caller/audit.ts'
import type { RequestScope } from '../../caller/callers.ts'
import { rememberIds } from '../../model/catalog-identity.ts'
import { throwExplained } from '../../model/migration-work.ts'
import { assertUnused, stillUnused } from '../../model/policy-use.ts'
import type { SourceMigration } from '../../model/source-changes.ts'
import { accessStatements, requireAllowed, requireUnnamed } from './apply-access.ts'
import type { ModelFileDeps } from './deps.ts'
import { destroyed, groundOf, planFile, readSentFile, type SentFile } from './plan-file.ts'
import { movedSince, type PlanPart } from './plan-state.ts'

type SentApply = SentFile & { readonly plan: string; readonly mayDrop: boolean }

export async function applyFile(
  deps: ModelFileDeps,
  scope: RequestScope,
  body: string,
): Promise<{ readonly changes: readonly FileChange[] }> {
  const { ports, changes, work } = deps
  const { database, ids } = ports
  const { workspace, rights } = scope
  requireEntitlement(rights, 'dataModel:read')
  const sent = readApply(body, scope)
  let works: readonly SourceMigration[] = []
  try {
    const done = await changes.change(workspace, async (current) => {
      const version = await loadAccessVersion(database)
      const ground = await groundOf(deps, scope, { sent, current })
      requireUnmoved(movedSince(sent.plan, ground.state))
      const planned = await planFile(deps, scope, { file: sent.file, ground })
      const { access, needed } = planned
      requireUnmoved(movedSince(sent.plan, { drift: planned.drift }))
      for (const entitlement of needed) requireEntitlement(rights, entitlement)
      await requireDestroyable(planned, sent)
      const { records, own, others } = planned.work
      works = own
      const answer = { changes: planned.changes, before: current, after: records, sources: [...own, ...others] }
      if (needed.length === 0) return { records: current, statements: [], answer }
      const change = { before: current, after: records, operations: planned.operations }
      if (access === undefined) await assertUnused(database, workspace.id, { ...change, rights })
      else requireUnnamed(access.after, { ...change, rights })
      if (access !== undefined && access.operations.length > 0) await requireAllowed(deps, scope, access)
      await work.requirePossible(workspace, planned.work, { isDryRun: false })
      const { statements, elsewhere } = work.changes(workspace, planned.work)
      const payload = {
        operations: [...planned.operations, ...(access?.operations ?? [])].map(({ kind }) => kind),
        changes: planned.changes.slice(0, MAX_TOLD).map(({ action, path }) => `${action} ${path}`),
      }
      return {
        records,
        statements: [
          ...(access === undefined ? [] : accessStatements(deps, workspace, { access, version })),
          ...stillUnused(workspace.id, change),
          ...statements,
          recordWorkspaceEvent(ids, scope, { action: 'schema.apply.v1', payload }),
        ],
        answer,
        ...(elsewhere !== undefined && { elsewhere }),
      }
    })
    const { before, after, sources } = done
    await rememberIds(database, { workspace: workspace.apiName, before, after }, sources)
    return { changes: done.changes }
  } catch (cause) {
    return throwExplained(limitFault(cause) ?? cause, works)
  }
}

/** Changes that the audit log names. */
const MAX_TOLD = 1_000

function readApply(body: string, scope: RequestScope): SentApply {
  const { model, plan, allow = [] } = membersAt(readJsonBody(body), '', ['model', 'plan', 'allow'])
  const sent = readSentFile(model, scope)
  const allowed = textsAt(allow, 'allow')
  const unknown = allowed.findIndex((what) => what !== 'drop')
  if (unknown >= 0) throw fileFault(`allow[${unknown}]`, 'must be drop')
  return { ...sent, plan: textAt(plan, 'plan'), mayDrop: allowed.length > 0 }
}

function requireUnmoved(moved: readonly PlanPart[]): void {
  if (moved.length === 0) return
  throw new ServiceError('conflict', 'The plan is out of date', { code: '4094', meta: { moved } })
}

async function requireDestroyable(planned: Parameters<typeof destroyed>[0], { mayDrop }: SentApply): Promise<void> {
  if (mayDrop || planned.destructions.length === 0) return
  const destructive = await destroyed(planned, true)
  throw new ServiceError('invalid', 'This would destroy data', { code: '4222', meta: { destructive } })
}
