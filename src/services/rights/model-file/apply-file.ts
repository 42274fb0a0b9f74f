/** Applies a planned file: model, tables and rights under one lock, all or nothing. */
import type { Viewer } from '../../../core/access/access.ts'
import { viewerOf } from '../../../core/access/merge.ts'
import { requireEntitlement } from '../../../core/access/principal.ts'
import { auditChanges } from '../../../core/audit-changes.ts'
import { ServiceError } from '../../../core/error.ts'
import type { ChangedRights } from '../../../core/file/access/changes.ts'
import type { FileChange } from '../../../core/file/changes.ts'
import { fileFault, membersAt, readJsonBody, textAt, textsAt } from '../../../core/file/reading.ts'
import { inParts } from '../../../sources/in-parts.ts'
import { policiesFault } from '../../../store/policies.ts'
import { saveNames } from '../../../store/presentation.ts'
import { loadRightsVersion } from '../../../store/rights.ts'
import { limitFault } from '../../../store/usage.ts'
import { recordWorkspaceEvent } from '../../caller/audit.ts'
import { presentedBy } from '../../caller/caller.ts'
import type { RequestScope } from '../../caller/callers.ts'
import { rememberIds } from '../../model/catalog-identity.ts'
import { throwExplained } from '../../model/migration-work.ts'
import { stillFree, stillUnused } from '../../model/policy-use.ts'
import type { SourceMigration } from '../../model/source-changes.ts'
import type { TestsIn } from '../access-tests.ts'
import { accessStatements, requireAllowed, requireUnused, rightsPlanOf } from './apply-access.ts'
import type { ModelFileDeps } from './deps.ts'
import { destroyed, groundOf, type PlannedFile, planFile, readSentFile, type SentFile } from './plan-file.ts'
import { movedSince, type PlanPart } from './plan-state.ts'

type SentApply = SentFile & TestsIn & { readonly plan: string; readonly mayDrop: boolean }

export async function applyFile(
  deps: ModelFileDeps,
  scope: RequestScope,
  body: string,
): Promise<{ readonly changes: readonly FileChange[] }> {
  const { ports, changes, work } = deps
  const { database, ids } = ports
  const { workspace } = scope
  const sent = await readApply(body, scope)
  let works: readonly SourceMigration[] = []
  let tries = 0
  let locateFault = (fault: unknown) => fault
  try {
    const done = await changes.change(scope, 'dataModel:read', async (before, now) => {
      const { rights } = now
      const version = await loadRightsVersion(database, { workspaceId: workspace.id })
      tries += 1
      const ground = await groundOf(deps, now, { sent, before })
      requireUnmoved(movedSince(sent.plan, ground.state))
      const planned = await planFile(deps, now, { file: sent.file, ground })
      const { access, names, needed } = planned
      locateFault = planned.locateFault
      requireUnmoved(movedSince(sent.plan, { drift: planned.drift }))
      for (const entitlement of needed) requireEntitlement(rights, entitlement)
      await requireDestroyable(deps, planned, sent.mayDrop ? undefined : viewerOf(rights, ground.before))
      const { records, own, others } = planned.work
      works = own
      const { made } = planned.work
      const answer = { changes: planned.changes, after: records, made, sources: [...own, ...others] }
      if (needed.length === 0) return { records: before.records, statements: [], answer }
      const impact = await requireUnused(deps, now, planned)
      if (access !== undefined && access.operations.length > 0) {
        await requireAllowed(deps, now, access)
        await deps.accessTests.keep(now, rightsPlanOf(access), sent)
      }
      await work.requirePossible(workspace, planned.work, { isDryRun: false })
      const payload = {
        operations: [...planned.operations, ...(access?.operations ?? []), ...(names?.operations ?? [])].map(
          ({ kind }) => kind,
        ),
        changes: planned.changes.slice(0, MAX_AUDITED).map(({ action, path }) => `${action} ${path}`),
        ...((access !== undefined || changesRights(planned.rights)) && auditedRights(planned.rights)),
        ...(access !== undefined && { access: accessChanges(planned.changes) }),
      }
      const event = { action: 'schema.apply.v1', target: { type: 'workspace', id: workspace.id }, payload } as const
      const { statements, elsewhere } = await work.changes(workspace, planned.work, (applied) =>
        recordWorkspaceEvent(ids, scope, { ...event, outcome: 'failure', payload: { ...payload, applied } }),
      )
      return {
        records,
        statements: [
          // Slow statements come first, because every workspace waits for the access version, which is locked from here on.
          ...statements,
          ...stillFree(workspace.id, impact),
          ...(access === undefined
            ? []
            : accessStatements(deps, workspace, {
                access,
                version,
                terms: { isStrict: tries === 1, by: presentedBy(scope.caller) },
              })),
          ...(names === undefined ? [] : saveNames(workspace.apiName, names.before, names.after)),
          ...stillUnused(workspace.id, impact),
          recordWorkspaceEvent(ids, scope, event),
        ],
        answer,
        ...(elsewhere !== undefined && { elsewhere }),
      }
    })
    const { after, made, sources } = done
    await rememberIds(database, { workspace: workspace.apiName, after, made }, sources)
    return { changes: done.changes }
  } catch (cause) {
    return throwExplained(limitFault(cause) ?? policiesFault(cause) ?? cause, works).catch((fault: unknown) =>
      Promise.reject(locateFault(fault)),
    )
  }
}

/** Maximum number of changes, and of granted and revoked rights, in an audit entry. */
const MAX_AUDITED = 1_000

function changesRights({ granted, revoked }: ChangedRights): boolean {
  return granted.length > 0 || revoked.length > 0
}

function auditedRights({ granted, revoked }: ChangedRights) {
  return { granted: granted.slice(0, MAX_AUDITED), revoked: revoked.slice(0, MAX_AUDITED) }
}

/** Changes of roles and policies, in the format of the file. */
function accessChanges(changes: readonly FileChange[]) {
  const own = changes.filter(({ action, path }) => action !== 'rename' && /^(role|policy) /.test(path))
  const before = Object.fromEntries(own.map(({ path, from }) => [path, from]))
  const after = Object.fromEntries(own.map(({ path, to }) => [path, to]))
  return auditChanges(before, after)
}

async function readApply(body: string, scope: RequestScope): Promise<SentApply> {
  const { model, plan, allow = [] } = membersAt(await inParts(readJsonBody(body)), '', ['model', 'plan', 'allow'])
  const sent = await readSentFile(model, scope)
  const allowed = textsAt(allow, 'allow')
  const unknown = allowed.findIndex((what) => what !== 'drop' && what !== 'failingTests')
  if (unknown >= 0) throw fileFault(`allow[${unknown}]`, 'must be drop or failingTests')
  const may = { mayDrop: allowed.includes('drop'), mayFail: allowed.includes('failingTests') }
  return { ...sent, plan: textAt(plan, 'plan'), ...may }
}

function requireUnmoved(moved: readonly PlanPart[]): void {
  if (moved.length === 0) return
  throw new ServiceError('conflict', 'The plan is out of date', { code: '4094', meta: { moved } })
}

async function requireDestroyable(
  deps: Pick<ModelFileDeps, 'ports'>,
  planned: PlannedFile,
  viewer: Viewer | undefined,
): Promise<void> {
  if (viewer === undefined) return
  const destructive = await destroyed(deps, planned, viewer)
  if (destructive.length === 0) return
  throw new ServiceError('invalid', 'This would destroy data', { code: '4222', meta: { destructive } })
}
