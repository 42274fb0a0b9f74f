/**
 * The effects of a migration besides its statements (docs/contract.md#what-a-migration-does): rows that it touches, what it
 * breaks, and the operations that undo it. Callers see only what they may read anyway.
 */
import { fullAccess, holdsEveryRow, type Viewer } from '../../core/access/access.ts'
import { affected, gone } from '../../core/access/gone.ts'
import { viewerOf } from '../../core/access/merge.ts'
import { holderOf } from '../../core/access/presentation.ts'
import { hasEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { changesBetween, type FileChange } from '../../core/file/changes.ts'
import { countTouched, MOST_COUNTED, type Touched, touchedBy } from '../../core/file/destructive.ts'
import { exportModel } from '../../core/file/export/model.ts'
import { inverseOf } from '../../core/file/operations/inverse.ts'
import type { Operation } from '../../core/migration/operation.ts'
import { byId } from '../../core/model/lookup.ts'
import type { Model, ModelRecords } from '../../core/model/model.ts'
import type { PresentationName } from '../../core/model/presentation.ts'
import { planInList } from '../../core/plan/aggregate.ts'
import { planList } from '../../core/plan/read.ts'
import { parseListArguments } from '../../core/query/parse-json.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { pause } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import { findUses } from '../../store/policies.ts'
import { type ViewRow, viewsNaming } from '../../store/presentation.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { Work } from './migration-work.ts'
import { compileModel } from './model-cache.ts'
import { impactOf } from './policy-use.ts'

export type TouchedRows = {
  readonly collection: string
  /** Null if the caller cannot read all of the rows, or the rows cannot be counted. */
  readonly rows: number | null
  readonly isAtLeast?: true
  readonly destroys: boolean
}

export type Named = { readonly id: string; readonly name: string }

/** Null for what the caller may not list. */
export type Breaks = {
  readonly policies: readonly Named[] | null
  readonly views: readonly Named[] | null
  readonly tests: readonly Named[] | null
}

export type MigrationEffects = {
  /** In the format of the model file, without names, roles and policies. */
  readonly changes: readonly FileChange[]
  readonly rows: readonly TouchedRows[]
  readonly breaks: Breaks
  readonly inverse: readonly Operation[] | null
  readonly restoresData: boolean
}

/** Returns the access tests that would be deleted or would fail; null if the caller may not list them. */
export type BrokenTests = (scope: RequestScope, change: TestedChange) => Promise<readonly Named[] | null>

export type TestedChange = { readonly before: Model; readonly after: Model; readonly lost: ReadonlySet<string> }

export type MigrationEffectsDeps = { readonly ports: Pick<Ports, 'database'>; readonly brokenTests: BrokenTests }

type Migration = { readonly work: Work; readonly operations: readonly Operation[] }

export async function migrationEffects(
  { ports, brokenTests }: MigrationEffectsDeps,
  scope: RequestScope,
  { work, operations }: Migration,
): Promise<MigrationEffects> {
  const { before, records, own, others, context } = work
  const { rights } = scope
  const after = await compileModel(0, records)
  const lost = new Set(gone({ before: before.records, after: records, operations }).keys())
  const changes = [...own, ...others].flatMap((one) => one.changes)
  const found = await inParts(inverseOf({ before: before.records, after: records, operations, changes }, context))
  const back = found && { before: after, after: before.records, operations: found.operations }
  const isHeld = back !== undefined && impactOf(back, rights).unheld === undefined
  const fileOf = (model: Model) => inParts(exportModel(model, scope.workspace.apiName))
  return {
    changes: await inParts(changesBetween(await fileOf(before), await fileOf(after))),
    rows: await touchedRows(work, touchedBy(operations, before), viewerOf(rights, before)),
    breaks: await breaksOf({ ports, brokenTests }, scope, { before, after, lost }),
    inverse: isHeld ? back.operations : null,
    restoresData: isHeld && found?.restoresData === true,
  }
}

/** Returns what a migration or an import breaks by its change of the model. */
export async function breaksOf(
  { ports, brokenTests }: MigrationEffectsDeps,
  scope: RequestScope,
  change: TestedChange,
): Promise<Breaks> {
  return {
    policies: await policiesAffected(ports, scope, change),
    views: await viewsBroken(ports, scope, change),
    tests: await brokenTests(scope, change),
  }
}

/** Policies that name deleted collections or fields (such a migration is refused), or compare fields that change. */
async function policiesAffected(
  { database }: Pick<Ports, 'database'>,
  { workspace, rights }: RequestScope,
  { before, after, lost }: TestedChange,
): Promise<readonly Named[] | null> {
  if (!hasEntitlement(rights, 'workspaceMembers:read')) return null
  const compared = [...affected({ before: before.records, after: after.records }).keys()]
  const uses = [
    ...(await findUses(database, workspace.id, { targetIds: [...lost], how: 'named' })),
    ...(await findUses(database, workspace.id, { targetIds: compared, how: 'compared' })),
  ]
  return [...new Map(uses.map(({ policyId, policy }) => [policyId, { id: policyId, name: policy }])).values()]
}

async function viewsBroken(
  { database }: Pick<Ports, 'database'>,
  { workspace, rights }: RequestScope,
  { before, after, lost }: TestedChange,
): Promise<readonly Named[] | null> {
  const views = before.byName.get('ServiceView' satisfies PresentationName)
  if (views === undefined || viewerOf(rights, before).accessTo(views, 'read').kind === 'denied') return null
  const collectionIds = [...lost].filter((id) => before.collections.has(id))
  const names = changedNames(before.records, after.records)
  const { userId } = holderOf(rights)
  const broken: Named[] = []
  for await (const view of viewsNaming(database, workspace.apiName, { userId, collectionIds, names })) {
    await pause()
    const { id, name, collectionId } = view
    const isBroken = lost.has(collectionId) || (isReadable(view, before) && !isReadable(view, after))
    if (isBroken) broken.push({ id, name })
  }
  return broken.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** Rows are counted for at most this many collections. */
const MOST_COUNTS = 100

async function touchedRows(
  { own, others }: Work,
  touched: readonly Touched[],
  viewer: Viewer,
): Promise<readonly TouchedRows[]> {
  const sources = new Map([...own, ...others].map(({ sourceId, database }) => [sourceId, database]))
  const result: TouchedRows[] = []
  for (const [at, one] of touched.entries()) {
    const { collection, fields, destroys } = one
    const isCounted = at < MOST_COUNTS && holdsEveryRow(viewer, 'read', collection, fields)
    const database = isCounted ? sources.get(collection.sourceId) : undefined
    const answer = await database?.driver.query(countTouched(one, database.dialect)).catch(unknown)
    const rows = answer === undefined ? null : Number(answer[0]?.[0] ?? 0)
    const isMore = rows !== null && rows > MOST_COUNTED
    const count = isMore ? { rows: MOST_COUNTED, isAtLeast: true as const } : { rows }
    result.push({ collection: collection.apiName, ...count, destroys })
  }
  return result
}

/** Treats a failed count as unknown: a count that times out does not fail the dry run. */
function unknown(cause: unknown): undefined {
  if (!(cause instanceof SqlFault)) throw cause
}

/** API names of the fields and relations that the change deletes or alters. */
function changedNames(before: ModelRecords, after: ModelRecords): readonly string[] {
  const changed = <T extends { readonly id: string; readonly apiName: string }>(
    was: readonly T[],
    is: readonly T[],
  ) => {
    const then = byId(is)
    return was.filter((one) => JSON.stringify(then.get(one.id)) !== JSON.stringify(one)).map(({ apiName }) => apiName)
  }
  return [
    ...new Set([
      ...changed(before.primitiveFields, after.primitiveFields),
      ...changed(before.relationFields, after.relationFields),
    ]),
  ]
}

/** True if the view's query is valid for a caller with full access. */
function isReadable({ collectionId, query }: ViewRow, model: Model): boolean {
  const collection = model.collections.get(collectionId)
  if (collection === undefined) return false
  const context = {
    viewer: viewerOf({ kind: 'all' }, model),
    collection,
    access: fullAccess,
    limits: { default: 1, max: Number.MAX_SAFE_INTEGER },
    maxRows: Number.MAX_SAFE_INTEGER,
    planInList,
  }
  try {
    planList(context, parseListArguments(query))
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}
