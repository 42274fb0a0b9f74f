/** Plans the application of a file: reads it, resolves it against the current workspace, and compares both. */
import { holdsEveryRow, type Viewer } from '../../../core/access/access.ts'
import { affected } from '../../../core/access/gone.ts'
import { viewerOf } from '../../../core/access/merge.ts'
import { hasEntitlement, readsPolicies, requireEntitlement } from '../../../core/access/principal.ts'
import { type UncheckedWrite, uncheckedWrites } from '../../../core/access/unchecked-writes.ts'
import { nested, ServiceError } from '../../../core/error.ts'
import {
  type AccessOperation,
  accessOperations,
  accessRights,
  type ChangedRights,
  type Side,
} from '../../../core/file/access/changes.ts'
import type { AccessRecords } from '../../../core/file/access/records.ts'
import { resolveAccess } from '../../../core/file/access/resolve.ts'
import { changesBetween, type FileChange } from '../../../core/file/changes.ts'
import { countStatement, type Destruction, destructionsOf } from '../../../core/file/destructive.ts'
import { exportAccess } from '../../../core/file/export/access.ts'
import { exportModel } from '../../../core/file/export/model.ts'
import type { ModelFile } from '../../../core/file/file.ts'
import { requireFewSteps } from '../../../core/file/operations/size.ts'
import { operationsBetween } from '../../../core/file/operations.ts'
import {
  exportNames,
  type NameOperation,
  type NameRecord,
  nameOperations,
  resolveNames,
} from '../../../core/file/presentation/names.ts'
import { readModelFile } from '../../../core/file/read.ts'
import { membersAt, readJsonBody } from '../../../core/file/reading.ts'
import { resolveFile } from '../../../core/file/resolve.ts'
import { FailedMigration } from '../../../core/migration/fault.ts'
import { textsIn } from '../../../core/migration/named.ts'
import type { Operation } from '../../../core/migration/operation.ts'
import { isSystemSource, type Model } from '../../../core/model/model.ts'
import { inParts } from '../../../sources/in-parts.ts'
import { loadAccessRecords, loadHolders, loadTakenIds } from '../../../store/access-records.ts'
import { loadNames } from '../../../store/presentation.ts'
import { markedSources } from '../../../store/sources.ts'
import { type RequestScope, requireStill } from '../../caller/callers.ts'
import { ofWholeModel } from '../../caller/queued-requests.ts'
import type { Work } from '../../model/migration-work.ts'
import { compileModel } from '../../model/model-cache.ts'
import { requireUnused } from './apply-access.ts'
import type { ModelFileDeps } from './deps.ts'
import { driftOf, type PlanState, stateOf, textOf } from './plan-state.ts'

export type SentFile = { readonly file: ModelFile; readonly sent: unknown }

/** The current state that a file is compared with. */
export type Ground = {
  readonly before: Model
  /** Undefined if the file has neither roles nor policies. */
  readonly access: AccessRecords | undefined
  /** Undefined if the file has no names. */
  readonly names: readonly NameRecord[] | undefined
  readonly state: PlanState
}

export type PlannedFile = {
  readonly work: Work
  readonly operations: readonly Operation[]
  readonly access:
    | { readonly before: Side; readonly after: Side; readonly operations: readonly AccessOperation[] }
    | undefined
  readonly names:
    | {
        readonly before: readonly NameRecord[]
        readonly after: readonly NameRecord[]
        readonly operations: readonly NameOperation[]
      }
    | undefined
  /** The rights that roles gain and lose; also for a file without roles that changes the type of a compared field. */
  readonly rights: ChangedRights
  readonly destructions: readonly Destruction[]
  readonly changes: readonly FileChange[]
  /** The entitlements that an apply requires. */
  readonly needed: readonly ('dataModel:edit' | 'workspaceMembers:edit')[]
  readonly drift: string
  /** Adds the place in the file to the fault of an operation; returns other faults unchanged. */
  readonly locateFault: (fault: unknown) => unknown
}

/** Reads the member `model` of a body. Throws 403 if the caller may not read what the file contains, and 422 for its faults. */
export async function readSentFile(value: unknown, { rights }: Pick<RequestScope, 'rights'>): Promise<SentFile> {
  const file = await inParts(readModelFile(value))
  if (file.roles !== undefined || file.policies !== undefined) requireEntitlement(rights, 'workspaceMembers:read')
  return { file, sent: value }
}

export async function groundOf(
  { ports }: Pick<ModelFileDeps, 'ports'>,
  { workspace }: Pick<RequestScope, 'workspace'>,
  { sent: { file, sent }, before }: { readonly sent: SentFile; readonly before: Model },
): Promise<Ground> {
  const { database } = ports
  const { records: current } = before
  const marked = await markedSources(database, workspace.id)
  const waiting = current.sources.filter(
    (source) => marked.has(source.id) && (isSystemSource(source) || file.sources?.has(source.apiName) === true),
  )
  if (waiting.length > 0) {
    const meta = { sources: waiting.map(({ apiName }) => apiName) }
    throw new ServiceError('conflict', 'Introspect the source first', { code: '4095', meta })
  }
  const isOfAccess = file.roles !== undefined || file.policies !== undefined
  const access = isOfAccess ? await loadAccessRecords(database, workspace.id) : undefined
  const names = file.names === undefined ? undefined : await loadNames(database, workspace.apiName)
  return { before, access, names, state: await stateOf({ workspace, before, access, names, sent }) }
}

export async function planFile(
  { ports, work, introspection }: Pick<ModelFileDeps, 'ports' | 'work' | 'introspection'>,
  { workspace, rights }: Pick<RequestScope, 'workspace' | 'rights'>,
  { file, ground }: { readonly file: ModelFile; readonly ground: Ground },
): Promise<PlannedFile> {
  const { before } = ground
  const { records: current } = before
  const { ids, database } = ports
  const resolved = await inParts(resolveFile(file, current, { workspace: workspace.apiName, newId: ids.next }))
  const operations = file.collections === undefined ? [] : await inParts(operationsBetween(current, resolved.records))
  requireFewSteps(operations)
  const locateFault = (fault: unknown) => faultInFile(fault, operations, resolved.places)
  const prepared = await work
    .prepare({ workspace, rights }, before, operations)
    .catch((fault: unknown) => Promise.reject(locateFault(fault)))
  const after = await compileModel(0, prepared.records)
  const was = ground.access && { access: ground.access, model: before }
  const taken = was === undefined ? new Set<string>() : await loadTakenIds(database, [...file.ids.values()])
  const is = was && { access: resolveAccess(file, was.access, { model: after, newId: ids.next, taken }), model: after }
  const access = was && is && { before: was, after: is, operations: accessOperations(was, is) }
  const names = ground.names && plannedNames(file, ground.names, after)
  requireFewSteps(operations, names?.operations)
  const otherwise = affected({ before: current, after: prepared.records })
  const showsRights = access === undefined && otherwise.size > 0 && readsPolicies(rights)
  const kept = showsRights ? await loadAccessRecords(database, workspace.id) : undefined
  const [sideBefore, sideAfter] = [
    access?.before ?? (kept && { access: kept, model: before }),
    access?.after ?? (kept && { access: kept, model: after }),
  ]
  const exported = async (
    side: Model,
    records: AccessRecords | undefined,
    shown: readonly NameRecord[] | undefined,
  ) => {
    const own = await inParts(exportModel(side, workspace.apiName))
    const ofAccess = records && exportAccess(records, side)
    return {
      ...own,
      ...(shown && { names: exportNames(shown, side) }),
      ...ofAccess,
      ids: new Map([...own.ids, ...(ofAccess?.ids ?? [])]),
    }
  }
  const touched = [...prepared.own, ...prepared.others].map(({ sourceId }) => sourceId)
  return {
    work: prepared,
    operations,
    access,
    names,
    rights: sideBefore && sideAfter ? accessRights(sideBefore, sideAfter, otherwise) : { granted: [], revoked: [] },
    destructions: destructionsOf(operations, before),
    changes: await inParts(
      changesBetween(
        await exported(before, was?.access, names?.before),
        await exported(after, is?.access, names?.after),
      ),
    ),
    needed: [
      ...(operations.length + (names?.operations.length ?? 0) > 0 ? (['dataModel:edit'] as const) : []),
      ...((access?.operations.length ?? 0) > 0 ? (['workspaceMembers:edit'] as const) : []),
    ],
    drift: await driftOf(touched, (source) => introspection.outline(workspace, current, source), current),
    locateFault,
  }
}

function plannedNames(file: ModelFile, before: readonly NameRecord[], model: Model) {
  const after = resolveNames(file, before, model)
  return { before, after, operations: nameOperations(before, after, model) }
}

export async function answerPlan(deps: ModelFileDeps, scope: RequestScope, body: string): Promise<object> {
  const { workspace, rights } = scope
  requireEntitlement(rights, 'dataModel:read')
  const before = await deps.changes.current(workspace)
  const plan = await ofWholeModel(deps.queues.changes, { scope, model: before, body }, async () => {
    const { model } = membersAt(await inParts(readJsonBody(body)), '', ['model'])
    return answered(deps, scope, { sent: await readSentFile(model, scope), before })
  })
  await requireStill(scope, 'dataModel:read')
  return plan
}

async function answered(
  deps: ModelFileDeps,
  scope: RequestScope,
  { sent, before }: { readonly sent: SentFile; readonly before: Model },
): Promise<object> {
  const { workspace, rights } = scope
  const ground = await groundOf(deps, scope, { sent, before })
  const planned = await planFile(deps, scope, { file: sent.file, ground })
  const { access, names, operations, changes, needed, work } = planned
  const isEditor = hasEntitlement(rights, 'dataModel:edit')
  if (isEditor) {
    await requireUnused(deps, scope, planned)
      .then(() => deps.work.requirePossible(workspace, work, { isDryRun: true }))
      .catch((fault: unknown) => Promise.reject(planned.locateFault(fault)))
  }
  return {
    plan: textOf({ ...ground.state, drift: planned.drift }),
    changes,
    operations: [...operations, ...(access?.operations ?? []), ...(names?.operations ?? [])],
    statements: await deps.work.shown(work),
    access: planned.rights,
    destructive: await destroyed(deps, planned, isEditor ? viewerOf(rights, ground.before) : undefined),
    missing: needed.filter((entitlement) => !hasEntitlement(rights, entitlement)),
    warnings: warningsOf(access),
  }
}

/** Warnings about writes that bypass the checks of new or changed policies, without duplicates. */
function warningsOf(access: PlannedFile['access']): readonly UncheckedWrite[] {
  if (access === undefined) return []
  const { before, after } = access
  const known = new Map(before.access.policies.map(({ id, content }) => [id, JSON.stringify(content)]))
  const changed = after.access.policies.filter(({ id, content }) => known.get(id) !== JSON.stringify(content))
  const all = changed.flatMap(({ content }) => uncheckedWrites(after.model.records, content))
  return [...new Map(all.map((warning) => [warning.message, warning])).values()]
}

export type Destroyed = {
  readonly operation: number
  readonly path: string
  readonly rows: number | null
  /** Number of holders of a role or policy. */
  readonly holders?: number
}

/** Destructions with the number of rows that lose data, if the viewer reads all; roles and policies with holders. */
export async function destroyed(
  { ports }: Pick<ModelFileDeps, 'ports'>,
  { access, destructions, operations, work }: Pick<PlannedFile, 'access' | 'destructions' | 'operations' | 'work'>,
  viewer: Viewer | undefined,
): Promise<readonly Destroyed[]> {
  const sources = new Map([...work.own, ...work.others].map(({ sourceId, database }) => [sourceId, database]))
  const list: Destroyed[] = []
  for (const destruction of destructions) {
    const { operation, path, sourceId, collection, fields } = destruction
    const database = viewer && holdsEveryRow(viewer, 'read', collection, fields) ? sources.get(sourceId) : undefined
    const rows = await database?.driver.query(countStatement(destruction, database.dialect))
    list.push({ operation, path, rows: rows === undefined ? null : Number(rows[0]?.[0] ?? 0) })
  }
  const taken = (access?.operations ?? []).flatMap(({ kind, data: { id, name } }, at) => {
    if (kind !== 'deleteRole' && kind !== 'deletePolicy') return []
    return [{ id, operation: operations.length + at, path: `${kind === 'deleteRole' ? 'role' : 'policy'} ${name}` }]
  })
  const held = await loadHolders(
    ports.database,
    taken.map(({ id }) => id),
  )
  for (const { id, ...place } of taken) {
    const holders = held.get(id) ?? 0
    if (holders > 0) list.push({ ...place, rows: null, holders })
  }
  return list
}

/**
 * Places a fault in the file. A fault without an operation is about something that a policy names and the file omits. A fault
 * with `meta` lists applied steps: it is a failure of the apply, not of the file.
 */
function faultInFile(fault: unknown, operations: readonly Operation[], places: ReadonlyMap<string, string>): unknown {
  if (!(fault instanceof ServiceError) || fault.meta !== undefined) return fault
  if (fault.kind !== 'unfit' && fault.kind !== 'invalid') return fault
  const operation = fault instanceof FailedMigration ? operations[fault.operation] : undefined
  const reason = fault instanceof FailedMigration ? fault.reason : fault.cause
  if (!(reason instanceof ServiceError) || (operation === undefined && reason.code === undefined)) return fault
  const { message, code, meta } = reason
  const place = operation && placeOf(operation as Change, places)
  return nested('invalid', ['Failed to read the JSON body', place ?? 'model.collections', message], {
    ...(code !== undefined && { code }),
    ...(meta !== undefined && { meta }),
  })
}

type Change = { readonly data: { readonly operations?: unknown } }

/** The place of the first part of the file that a change names; with one nested operation, the place of that one. */
function placeOf(change: Change, places: ReadonlyMap<string, string>): string | undefined {
  const parts = (change.data.operations ?? []) as readonly Change[]
  const [only] = parts
  const ofPart = only !== undefined && parts.length === 1 ? placeOf(only, places) : undefined
  return ofPart ?? textsIn(change).flatMap((id) => places.get(id) ?? [])[0]
}
