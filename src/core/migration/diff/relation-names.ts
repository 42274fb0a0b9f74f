/**
 * Names both sides of the relations that an introspection finds (docs/contract.md#introspection): the side with the foreign key
 * after its column, the other side after the referring collection.
 */
import type { Parts } from '../../parts.ts'
import type { SourceForeignKey } from '../../sql/source-schema.ts'
import { withoutKeySuffix } from '../derive.ts'
import { chooseNames, joinNames, type Unnamed } from '../names.ts'
import type { CollectionDiff, DiffContext } from './context.ts'

/** A foreign key that becomes a relation pair. */
export type FoundKey = {
  readonly owner: CollectionDiff
  readonly target: CollectionDiff
  readonly foreignKey: SourceForeignKey
}

/** The two ends of an existing relation. */
export type Ends = { readonly ownerId: string; readonly targetId: string }

export type PairNames = { readonly owner: string; readonly opposite: string }

/** Adds the names to those of the collections. */
export function* nameRelations(
  found: readonly FoundKey[],
  kept: readonly Ends[],
  { toApiName }: Pick<DiffContext, 'toApiName'>,
): Parts<(key: FoundKey) => PairNames> {
  const owners = yield* claim(
    found,
    ({ owner }) => owner,
    (key) => ownerCandidates(key, toApiName),
  )
  const ends = [...kept, ...found.map(endsOf)]
  const count = Map.groupBy(ends, ({ ownerId, targetId }) => `${ownerId} ${targetId}`)
  const opposites = yield* claim(
    found,
    ({ target }) => target,
    (key) => {
      const { ownerId, targetId } = endsOf(key)
      const isOnly = count.get(`${ownerId} ${targetId}`)?.length === 1
      const { apiName } = key.owner.collection
      const by = joinNames(apiName, 'By', owners.get(key) ?? '')
      const last = joinNames(by, 'Of', toApiName(key.foreignKey.dbName))
      return isOnly ? [apiName, by, last] : [by, last]
    },
  )
  return (key) => ({ owner: owners.get(key) ?? '', opposite: opposites.get(key) ?? '' })
}

/** A junction and the two foreign keys of its key, each with the names of its relation. */
export type FoundJunction = {
  readonly junction: CollectionDiff
  readonly sides: readonly [JunctionSide, JunctionSide]
}

export type JunctionSide = {
  /** The collection at this side. */
  readonly collection: CollectionDiff
  /** The name of the junction's relation to this collection. */
  readonly apiName: string
  /** The name of that relation's constraint. */
  readonly constraint: string
  /** True if another many-to-many field leads from here to the same collection. */
  readonly isSecond: boolean
}

/**
 * Names the many-to-many fields of both sides after the collection at the other side. If that name is ambiguous, adds the
 * junction, or in a junction of a collection with itself the relation at this side. Adds the names to those of the collections.
 */
export function nameManyToMany(
  found: readonly FoundJunction[],
  { toApiName }: Pick<DiffContext, 'toApiName'>,
): ReadonlyMap<JunctionSide, string> {
  const unnamed = found.flatMap(({ junction, sides: [first, second] }) =>
    [
      { side: first, other: second },
      { side: second, other: first },
    ].map(({ side, other }) => {
      const target = other.collection.collection.apiName
      const isSelf = other.collection === side.collection
      const link = joinNames(target, 'By', junction.collection.apiName)
      const own = isSelf ? joinNames(target, 'By', side.apiName) : link
      const last = joinNames(link, toApiName(side.apiName))
      const longest = joinNames(last, 'Of', toApiName(side.constraint))
      const candidates = isSelf || side.isSecond ? [own, last, longest] : [target, own, last, longest]
      return { side, candidates, rank: JSON.stringify([junction.table.schema, junction.table.dbName, side.apiName]) }
    }),
  )
  const chosen = new Map<JunctionSide, string>()
  for (const [{ names }, things] of Map.groupBy(unnamed, ({ side }) => side.collection)) {
    for (const [{ side }, name] of chooseNames(things, names)) {
      chosen.set(side, name)
      names.add(name)
    }
  }
  return chosen
}

function endsOf({ owner, target }: FoundKey): Ends {
  return { ownerId: owner.collection.id, targetId: target.collection.id }
}

/** Names one side of every key among the fields of its collection. */
function* claim(
  found: readonly FoundKey[],
  sideOf: (key: FoundKey) => CollectionDiff,
  candidatesOf: (key: FoundKey) => readonly string[],
): Parts<ReadonlyMap<FoundKey, string>> {
  const chosen = new Map<FoundKey, string>()
  for (const [{ names }, keys] of Map.groupBy(found, sideOf)) {
    yield
    const things = keys.map((key): Unnamed & { readonly key: FoundKey } => ({
      key,
      candidates: candidatesOf(key),
      rank: rankOf(key),
    }))
    for (const [{ key }, name] of chooseNames(things, names)) {
      chosen.set(key, name)
      names.add(name)
    }
  }
  return chosen
}

function rankOf({ owner, foreignKey }: FoundKey): string {
  return JSON.stringify([owner.table.schema, owner.table.dbName, foreignKey.dbName])
}

function ownerCandidates(
  { owner, target, foreignKey }: FoundKey,
  toApiName: DiffContext['toApiName'],
): readonly string[] {
  const { apiName } = target.collection
  const column = ownColumn(owner, foreignKey)
  const last = (name: string) => joinNames(name, 'Of', toApiName(foreignKey.dbName))
  if (column === undefined) {
    const by = joinNames(apiName, 'By', ...foreignKey.columns.map(toApiName))
    return [apiName, by, last(by)]
  }
  const whole = toApiName(column)
  const stem = toApiName(withoutKeySuffix(column) ?? column)
  return [stem, joinNames(stem, apiName), joinNames(whole, apiName), last(joinNames(whole, apiName))]
}

/** The column that distinguishes a key of several columns: the only one that no other key of the table has. */
function ownColumn({ table }: CollectionDiff, foreignKey: SourceForeignKey): string | undefined {
  const { columns } = foreignKey
  if (columns.length === 1) return columns[0]
  const others = new Set(table.foreignKeys.flatMap((key) => (key === foreignKey ? [] : key.columns)))
  const own = columns.filter((column) => !others.has(column))
  return own.length === 1 && withoutKeySuffix(own[0] ?? '') !== undefined ? own[0] : undefined
}
