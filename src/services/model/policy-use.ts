/**
 * Prevents three changes of a model: deleting collections and fields that policies name, changing the type of fields that
 * policies compare, and changing a database beyond the rights of the caller. Used by migrations and by the deletion of data
 * sources.
 */
import { firstOfOthers, namesGiven, type OwnedApiName } from '../../core/access/former-names.ts'
import { type Affected, affected, type Change, gone } from '../../core/access/gone.ts'
import { viewerOf } from '../../core/access/merge.ts'
import { type Rights, readsPolicies } from '../../core/access/principal.ts'
import { type RefusedChange, unheld } from '../../core/access/unheld.ts'
import { ServiceError } from '../../core/error.ts'
import { FailedMigration, invalidOperation, MIGRATION_FAILED } from '../../core/migration/fault.ts'
import { madeBy, textsIn } from '../../core/migration/named.ts'
import type { Operation } from '../../core/migration/operation.ts'
import { takenBack } from '../../core/migration/taken-back.ts'
import { lookupOf } from '../../core/model/lookup.ts'
import type { Model } from '../../core/model/model.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { firstFormerName } from '../../store/models.ts'
import { assertUnnamedStatement, assertUnusedStatement, findNamed, findUses } from '../../store/policies.ts'

/** The names, by id, of the collections and fields that a change of the model deletes. */
type Lost = ReadonlyMap<string, string>

/** With the rights of the caller: errors name policies only to callers who may read them. */
type Loss = { readonly lost: Lost; readonly rights: Rights }

/** The effects of a migration on what policies may name or compare. */
export type Impact = Loss & {
  /** Empty if the caller has all rights, and so may change what policies mean (decision 112). */
  readonly affected: Affected
  /** The first change that the caller may not make; undefined if the caller has all rights. */
  readonly unheld: RefusedChange | undefined
  /** The ids of the collections and fields that the change creates; empty if the caller has all rights. */
  readonly made: readonly string[]
  /** The new names of existing collections and fields; empty if the caller has all rights. */
  readonly given: readonly OwnedApiName[]
  readonly operations: readonly Operation[]
}

const BACK = 'only an Administrator changes something twice, or makes and deletes it, in one migration'

/** `before` is the current model, `after` are the records that result from the change. */
export function impactOf(
  {
    before,
    after,
    operations,
  }: Pick<Change, 'after'> & { readonly before: Model; readonly operations: readonly Operation[] },
  rights: Rights,
): Impact {
  const change = { before: before.records, after, operations }
  const lost = gone(change)
  if (rights.kind === 'all')
    return { lost, affected: new Map(), unheld: undefined, made: [], given: [], operations, rights }
  const anew = madeBy(operations)
  const back = takenBack(before.records, after, operations)
  const refused =
    back === undefined ? unheld(before, after, viewerOf(rights, before), anew) : { reason: BACK, by: [back] }
  const { relations } = lookupOf(before.records)
  const linked = after.relationFields.filter(({ id }) => !relations.has(id)).map(({ id }) => id)
  const made = [...anew, ...linked]
  const given = namesGiven(before.records, after)
  const taken = firstOfOthers(given, before.records)
  const unheldNow = refused ?? (taken && { reason: formerName(taken), by: [taken.ownerId] })
  return { lost, affected: affected(change), unheld: unheldNow, made, given, operations, rights }
}

/**
 * Throws if a migration would delete what a policy of the workspace names, change what a policy compares, or do what the caller
 * may not.
 */
export async function assertUnused(database: SqlDriver, workspaceId: string, impact: Impact): Promise<void> {
  const use = await firstUse(database, workspaceId, impact)
  if (use !== undefined) {
    const all = await policyUses(database, workspaceId, impact)
    const policies = all.map(({ id, name }) => ({ id, name }))
    const cause = invalidOperation('usedByPolicy', use, readsPolicies(impact.rights) ? { meta: { policies } } : {})
    throw new ServiceError('unfit', MIGRATION_FAILED, { cause })
  }
  const [compared] = await findUses(database, workspaceId, { targetIds: [...impact.affected.keys()], how: 'compared' })
  if (compared !== undefined) throw comparedFault(compared.targetId, compared.policy, impact)
  requireHeld(impact)
  await assertFree(database, workspaceId, impact)
}

/** Throws the fault of the operation that the caller may not perform. */
export function requireHeld({ unheld, operations }: Impact): void {
  if (unheld !== undefined) throw operationFault(operations, unheld.by, unheld.reason)
}

/**
 * Throws if a migration creates something under an id that a policy of the workspace or the scope of a key still names, or
 * reuses a name that something else had before.
 */
export async function assertFree(
  database: SqlDriver,
  workspaceId: string,
  { made, given, operations }: Impact,
): Promise<void> {
  const former = await firstFormerName(database, workspaceId, given)
  if (former !== undefined) throw operationFault(operations, [former.ownerId], formerName(former))
  const [id] = await findNamed(database, workspaceId, made)
  if (id === undefined) return
  throw operationFault(operations, [id], `the id ${id} is of something that a policy or the scope of a key names still`)
}

function formerName({ name }: OwnedApiName): string {
  return `only an Administrator gives the name ${name}, which something else had`
}

function operationFault(operations: readonly Operation[], by: readonly string[], reason: string): ServiceError {
  const position = operations.findIndex(({ data }) => textsIn(data).some((text) => by.includes(text)))
  return new FailedMigration(Math.max(position, 0), invalidOperation('usedByPolicy', reason))
}

/** The fault of the operation that changes what the policy compares or names. */
export function comparedFault(id: string, policy: string, { affected, operations, rights }: Impact): ServiceError {
  const unknown = { name: 'field', use: 'compared', how: 'which this would change', by: [id] } as const
  const { name, use: verb, how, by } = affected.get(id) ?? unknown
  const who = readsPolicies(rights) ? `the policy ${policy}` : 'a policy'
  return operationFault(operations, by, `${name} is ${verb} by ${who}, ${how}`)
}

/** Describes the first deleted collection or field that a policy names; undefined if there is none. */
export async function firstUse(
  database: SqlDriver,
  workspaceId: string,
  { lost, rights }: Loss,
): Promise<string | undefined> {
  if (lost.size === 0) return undefined
  const uses = new Map(
    (await findUses(database, workspaceId, { targetIds: [...lost.keys()], how: 'named' })).map(
      ({ targetId, policy }) => [targetId, policy],
    ),
  )
  const used = [...lost.keys()].find((id) => uses.has(id))
  if (used === undefined) return undefined
  return `${lost.get(used)} is used by ${readsPolicies(rights) ? `the policy ${uses.get(used)}` : 'a policy'}`
}

/** The fields that a policy names; its id and name are included only for callers who may read policies. */
export type PolicyUse = { readonly id?: string; readonly name?: string; readonly fields: readonly string[] }

/** Lists the policies that name anything in `lost`; `fields` includes collections by name. */
export async function policyUses(
  database: SqlDriver,
  workspaceId: string,
  { lost, rights }: Loss,
): Promise<readonly PolicyUse[]> {
  if (lost.size === 0) return []
  const uses = await findUses(database, workspaceId, { targetIds: [...lost.keys()], how: 'named' })
  return [...Map.groupBy(uses, ({ policyId }) => policyId)].map(([id, of]) => ({
    ...(readsPolicies(rights) && { id, name: of[0]?.policy ?? '' }),
    fields: of.map(({ targetId }) => lost.get(targetId)?.replace(/^\w+ /, '') ?? ''),
  }))
}

/**
 * The same checks as statements for the migration's batch, after the lock is taken, so that no policy can be saved in
 * between.
 */
export function stillUnused(workspaceId: string, { lost, affected }: Partial<Pick<Impact, 'lost' | 'affected'>>) {
  const checks = [
    { targetIds: [...(lost?.keys() ?? [])], how: 'named' },
    { targetIds: [...(affected?.keys() ?? [])], how: 'compared' },
  ] as const
  return checks.filter(({ targetIds }) => targetIds.length > 0).map((uses) => assertUnusedStatement(workspaceId, uses))
}

/** The check of `assertFree` as a statement; runs before policies that name created ids can be saved. */
export function stillFree(workspaceId: string, { made }: Pick<Impact, 'made'>) {
  return made.length === 0 ? [] : [assertUnnamedStatement(workspaceId, made)]
}
