/**
 * What a migration does to the database for relations. The model file, whose changes a review lists, has no columns, indexes and
 * junctions that stand for a relation: with one they seem to come and go, and without they stay where they are.
 */
import type { Change } from 'governed-data-client/system'
import { isHeld } from '../model/families.ts'
import type { Collection, Field, Model, Relation } from '../model/records.ts'
import { typeText } from '../model/types.ts'

/** One of the texts, and what it is about as the database names it. */
export type Effect = readonly [kind: EffectKind, what: string]
export type EffectKind =
  | 'columnsMade'
  | 'columnsUsed'
  | 'columnsStay'
  | 'columnsGo'
  | 'columnChanged'
  | 'indexMade'
  | 'keyMade'
  | 'refused'
  | 'keyAnew'
  | 'keyGoes'
  | 'noKey'
  | 'modelOnly'
  | 'tableMade'
  | 'linksGo'
  | 'tableUsed'
  | 'tableStays'
  | 'tableGoes'

/** Without what seems to be made or deleted and is there before and afterwards. */
export function realChanges<T extends Change>(changes: readonly T[], before: Model, after: Model): readonly T[] {
  return changes.filter(({ action, path }) => {
    if (action !== 'create' && action !== 'delete') return true
    const was = idAt(before, path)
    return was === undefined || was !== idAt(after, path)
  })
}

function idAt({ collections }: Model, path: string): string | undefined {
  const [, name = '', field, index] = /^(\w+)(?:\.(\w+)|: (.+))?$/.exec(path) ?? []
  const collection = collections.find(({ apiName }) => apiName === name)
  if (collection === undefined || (field === undefined && index === undefined)) return collection?.id
  const { fields, relations, indexes } = collection
  const named = (wanted: string) => fields.find(({ apiName }) => apiName === wanted)
  const relationNamed = (wanted: string) => relations.find(({ apiName }) => apiName === wanted)
  if (field !== undefined) return (named(field) ?? relationNamed(field))?.id
  const isUnique = index?.startsWith('unique ') === true
  const by = (index ?? '').replace(/^unique /, '').split(', ')
  const ids = by.flatMap((one) => named(one)?.id ?? relationNamed(one)?.by ?? [])
  return indexes.find(
    ({ kind, fieldIds }) => kind === (isUnique ? 'unique' : 'normal') && fieldIds.join() === ids.join(),
  )?.id
}

/** By the path of each change of a relation. */
export function relationEffects(before: Model, after: Model): ReadonlyMap<string, readonly Effect[]> {
  const effects = new Map<string, readonly Effect[]>()
  const [was, is] = [relationsOf(before), relationsOf(after)]
  for (const [id, old] of was) {
    const now = is.get(id)
    const found = now === undefined ? deleted(before, after, old) : changed(before, old, now)
    if (found.length > 0) effects.set((now ?? old).path, found)
  }
  for (const [id, now] of is) {
    if (was.has(id)) continue
    const found = created(before, after, now).map((effect) => {
      const isSecond = effect[0] === 'tableMade' && [...effects.values()].flat().some((one) => `${one}` === `${effect}`)
      return isSecond ? (['tableUsed', effect[1]] as const) : effect
    })
    effects.set(now.path, [...(effects.get(now.path) ?? []), ...found])
  }
  return effects
}

/** A relation at the side that refers, or that leads over a junction. */
type RelationPlace = {
  readonly path: string
  readonly owner: Collection
  readonly far: Collection | undefined
  readonly relation: Relation
}

function relationsOf({ collections }: Model): ReadonlyMap<string, RelationPlace> {
  const all = collections.flatMap((owner) =>
    owner.relations
      .filter(({ actions, through }) => actions !== undefined || through !== undefined)
      .map((relation): readonly [string, RelationPlace] => {
        const far = collections.find(({ id }) => id === relation.to)
        return [relation.id, { path: `${owner.apiName}.${relation.apiName}`, owner, far, relation }]
      }),
  )
  return new Map(all)
}

function created(before: Model, after: Model, { owner, far, relation }: RelationPlace): readonly Effect[] {
  const junction = junctionOf(after, relation)
  if (junction !== undefined) {
    const isNew = collectionIn(before, junction.id) === undefined
    return isNew
      ? [['tableMade', junction.dbName], ...(isEmptiedWithRows(junction) ? ([['linksGo', '']] as const) : [])]
      : [
          ['modelOnly', ''],
          ['tableUsed', junction.dbName],
        ]
  }
  const known = new Set(collectionIn(before, owner.id)?.fields.map(({ id }) => id))
  const columns = columnsOf(owner, relation)
  const [made, used] = [columns.filter(({ id }) => !known.has(id)), columns.filter(({ id }) => known.has(id))]
  const there = new Set(collectionIn(before, owner.id)?.indexes.map(({ id }) => id))
  const index = owner.indexes.find(
    ({ id, fieldIds }) => !there.has(id) && relation.by.every((one, at) => fieldIds[at] === one),
  )
  const isKey = far !== undefined && isHeld(after, owner, far)
  const changes: readonly Effect[] = [
    ...listed('columnsMade', owner, made),
    ...listed('columnsUsed', owner, used),
    ...(index === undefined ? [] : listed('indexMade', owner, columns)),
  ]
  if (isKey) {
    // Of other rules the model file has a member, which is said.
    const isRefused = relation.actions?.onDelete === 'noAction'
    const key = ['keyMade', keyText({ owner, far, relation })] as const
    return [...changes, key, ...(isRefused ? ([['refused', far.apiName]] as const) : [])]
  }
  const isModelOnly = made.length === 0 && index === undefined
  return [...changes, ...(isModelOnly ? ([['modelOnly', '']] as const) : []), ['noKey', '']]
}

const isEmptiedWithRows = ({ relations }: Collection) =>
  relations.every(({ actions }) => actions === undefined || actions.onDelete === 'cascade')

function deleted(before: Model, after: Model, place: RelationPlace): readonly Effect[] {
  const { owner, far, relation } = place
  const junction = junctionOf(before, relation)
  if (junction !== undefined) {
    const isThere = collectionIn(after, junction.id) !== undefined
    return isThere
      ? [
          ['modelOnly', ''],
          ['tableStays', junction.dbName],
        ]
      : [['tableGoes', junction.dbName]]
  }
  const rest = collectionIn(after, owner.id)
  if (rest === undefined) return []
  const kept = new Set(rest.fields.map(({ id }) => id))
  const columns = columnsOf(owner, relation)
  const gone = columns.filter(({ id }) => !kept.has(id))
  const isKey = far !== undefined && isHeld(before, owner, far)
  return [
    ...(isKey ? ([['keyGoes', keyText({ owner, far, relation })]] as const) : []),
    ...(!isKey && gone.length === 0 ? ([['modelOnly', '']] as const) : []),
    ...listed(
      'columnsStay',
      owner,
      columns.filter(({ id }) => kept.has(id)),
    ),
    ...listed('columnsGo', owner, gone),
  ]
}

function changed(before: Model, old: RelationPlace, now: RelationPlace): readonly Effect[] {
  const columns = columnsOf(now.owner, now.relation).flatMap((column): readonly Effect[] => {
    const was = old.owner.fields.find(({ id }) => id === column.id)
    if (was === undefined) return []
    const [from, to] = [was, column].map((one) => `${one.dbName} ${typeText(one)}`)
    return from === to ? [] : [['columnChanged', `${now.owner.dbName}: ${from} → ${to}`]]
  })
  const [was, is] = [old.relation.actions, now.relation.actions]
  const isActing = was?.onDelete !== is?.onDelete || was?.onUpdate !== is?.onUpdate
  const isKey = isActing && now.far !== undefined && isHeld(before, now.owner, now.far)
  const key: readonly Effect[] = isKey ? [['keyAnew', keyText(old)]] : []
  const effects = [...columns, ...key]
  return effects.length === 0 && old.path !== now.path ? [['modelOnly', '']] : effects
}

function junctionOf(model: Model, { through }: Relation): Collection | undefined {
  const near = model.collections.flatMap(({ relations }) => relations).find(({ id }) => id === through?.[0])
  return near && collectionIn(model, near.to)
}

const collectionIn = ({ collections }: Model, wanted: string) => collections.find(({ id }) => id === wanted)

const columnsOf = ({ fields }: Collection, { by }: Relation) =>
  by.flatMap((id) => fields.find((field) => field.id === id) ?? [])

function listed(kind: EffectKind, { dbName }: Collection, columns: readonly Field[]): readonly Effect[] {
  return columns.length === 0 ? [] : [[kind, `${dbName} (${columns.map((one) => one.dbName).join(', ')})`]]
}

function keyText({ owner, far, relation }: Omit<RelationPlace, 'path'>): string {
  const opposite = far?.relations.find(({ id }) => id === relation.opposite)
  const text = (collection: Collection, of: Relation) =>
    listed('keyMade', collection, columnsOf(collection, of))[0]?.[1]
  return [text(owner, relation), far && opposite && text(far, opposite)].filter(Boolean).join(' → ')
}
