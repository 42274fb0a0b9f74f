/** Changes of relations, collected like all others: what refers, the columns and indexes that it needs, and junctions. */
import type { Operation } from 'governed-data-client/system'
import { type Change, columnName, type Ids, named, own, sidesOf, within } from './changes.ts'
import { familyOf, storedAs } from './families.ts'
import { type Action, type Collection, type Field, holderOf, type Model, type Relation } from './records.ts'

/** Characters of a name in a database. */
const LONGEST = 63

export const relationKinds = ['toOne', 'toMany', 'oneToOne', 'manyToMany'] as const

export type NewRelation = {
  readonly kind: (typeof relationKinds)[number]
  /** The id of the other collection. */
  readonly to: string
  readonly name: string
  /** What the relation back is called. */
  readonly opposite: string
  /** Fields that refer, one for each of the key that they refer to; a new one is made where it is empty. */
  readonly by: readonly string[]
  readonly isRequired: boolean
  readonly onDelete: Action
  readonly onUpdate: Action
  /** The id of the junction; one is made where it is empty. */
  readonly through: string
}

/** Undefined where the other collection has no key. */
export function createRelation(
  model: Model,
  collection: Collection,
  typed: NewRelation,
  ids: Ids = own,
): Change | undefined {
  const other = model.collections.find(({ id }) => id === typed.to)
  if (other === undefined) return undefined
  const path = `${collection.apiName}.${typed.name}`
  const operations =
    typed.kind === 'manyToMany'
      ? manyToMany(model, { near: collection, far: other, typed, ids })
      : relationBetween(model, [collection, other], typed, ids)
  return operations && { action: 'create', path, operations }
}

function relationBetween(
  model: Model,
  [collection, other]: readonly [Collection, Collection],
  typed: NewRelation,
  ids: Ids,
): readonly Operation[] | undefined {
  const isBack = typed.kind === 'toMany'
  const [owner, far] = isBack ? [other, collection] : [collection, other]
  const [name, opposite] = isBack ? [typed.opposite, typed.name] : [typed.name, typed.opposite]
  const isUnique = typed.kind === 'oneToOne'
  const made = pairOf(model, { ...typed, owner, far, name, opposite, isUnique, ids })
  if (made === undefined) return undefined
  const { fieldIds, created, pair } = made
  const isIndexed = owner.indexes.some(
    ({ kind, fieldIds: of }) => (!isUnique || kind !== 'normal') && fieldIds.every((id, at) => of[at] === id),
  )
  const index = { id: ids(), kind: isUnique ? 'unique' : 'normal', fieldIds }
  const needed = isIndexed ? [] : [{ kind: 'createIndex', data: index }]
  return [...within(owner, [...created, ...needed]), pair]
}

type Referring = Pick<NewRelation, 'by' | 'isRequired' | 'onDelete' | 'onUpdate' | 'name' | 'opposite'> & {
  readonly owner: Pick<Collection, 'id' | 'dbName' | 'sourceId' | 'fields'>
  readonly far: Collection
  readonly isUnique: boolean
  readonly ids: Ids
}

type MadePair = {
  readonly fieldIds: readonly string[]
  readonly created: readonly Operation[]
  readonly pair: Operation
  readonly firstId: string
  readonly secondId: string
}

export function keyOf({ indexes, fields }: Collection): readonly Field[] {
  const primary = indexes.find(({ kind }) => kind === 'primary')
  return (primary?.fieldIds ?? []).flatMap((id) => fields.find((field) => field.id === id) ?? [])
}

function pairOf(model: Model, typed: Referring): MadePair | undefined {
  const { owner, far, name, opposite, by, isRequired, onDelete, onUpdate, isUnique, ids } = typed
  const key = keyOf(far)
  if (key.length === 0) return undefined
  const family = familyOf(model, owner.sourceId)
  const columns = key.map(({ apiName, type }, at) => {
    const there = owner.fields.find(({ id }) => id === by[at])
    if (there !== undefined) return { id: there.id, dbName: there.dbName, created: [] }
    const called = `${name}${apiName.charAt(0).toUpperCase()}${apiName.slice(1)}`
    const data = { id: ids(), apiName: called, dbName: columnName(model, owner, called), type: storedAs(family, type) }
    const made = { ...data, isNullable: !isRequired, isList: false, defaultValue: null }
    return { ...data, created: [{ kind: 'createPrimitiveField', data: made }] }
  })
  const fieldIds = columns.map(({ id }) => id)
  const [firstId, secondId] = [ids(), ids()]
  const data = {
    relationName: constraintName(
      owner.dbName,
      columns.map(({ dbName }) => dbName),
    ),
    onDelete,
    onUpdate,
    firstField: { id: firstId, apiName: name, isList: false, isConstrained: true, collectionId: owner.id, fieldIds },
    secondField: {
      id: secondId,
      apiName: opposite,
      isList: !isUnique,
      isConstrained: false,
      collectionId: far.id,
      fieldIds: key.map(({ id }) => id),
    },
  }
  return {
    fieldIds,
    created: columns.flatMap(({ created }) => created),
    pair: { kind: 'createRelationFieldPair', data: { kind: 'single', data } },
    firstId,
    secondId,
  }
}

/** As databases call them, within the room that these have. */
function constraintName(table: string, columns: readonly string[]): string {
  const suffix = '_fkey'
  return [...`${table}_${columns.join('_')}`].slice(0, LONGEST - suffix.length).join('') + suffix
}

type Many = { readonly near: Collection; readonly far: Collection; readonly typed: NewRelation; readonly ids: Ids }

function manyToMany(model: Model, { near, far, typed, ids }: Many): readonly Operation[] | undefined {
  const { name, opposite, through } = typed
  const junction = model.collections.find(({ id }) => id === through)
  const over = ([nearId, farId]: readonly [string, string]) => {
    const firstField = { id: ids(), apiName: name, throughFieldId: nearId }
    const secondField = { id: ids(), apiName: opposite, throughFieldId: farId }
    return { kind: 'createManyToManyFieldPair', data: { firstField, secondField } }
  }
  if (junction !== undefined) {
    const ends = endsOf(junction, near, far)
    return ends && [over(ends)]
  }
  const called = `${near.apiName}_${name}`
  const { sourceId } = near
  const owner = { id: ids(), dbName: called, sourceId, fields: [] }
  const common = { by: [], isRequired: true, onDelete: 'cascade', onUpdate: 'noAction', isUnique: false, ids } as const
  const from = pairOf(model, { ...common, owner, far: near, name: 'from', opposite: called })
  const to = pairOf(model, { ...common, owner, far, name: 'to', opposite: near.id === far.id ? `${called}To` : called })
  if (from === undefined || to === undefined) return undefined
  const fieldIds = [...from.fieldIds, ...to.fieldIds]
  const data = {
    id: owner.id,
    sourceId,
    ...(near.namespaceId !== undefined && { namespaceId: near.namespaceId }),
    apiName: called,
    dbName: called,
    operations: [
      ...from.created,
      ...to.created,
      { kind: 'createIndex', data: { id: ids(), kind: 'primary', fieldIds } },
      { kind: 'createIndex', data: { id: ids(), kind: 'normal', fieldIds: to.fieldIds } },
    ],
  }
  return [{ kind: 'createCollection', data }, from.pair, to.pair, over([from.secondId, to.secondId])]
}

/** The relations of both to a junction; of a collection with itself the first and the second. */
function endsOf(junction: Collection, near: Collection, far: Collection): readonly [string, string] | undefined {
  const referring = junction.relations.filter(({ actions }) => actions !== undefined)
  const from = referring.find(({ to }) => to === near.id)
  const to = referring.find((one) => one.to === far.id && one !== from)
  return from?.opposite && to?.opposite ? [from.opposite, to.opposite] : undefined
}

/** Collections that a many-to-many field between two can lead over. */
export function junctionsOf({ collections }: Model, near: Collection, far: Collection): readonly Collection[] {
  return collections.filter((one) => !one.isSystem && endsOf(one, near, far) !== undefined)
}

type RelationChange = {
  readonly name: string
  readonly opposite: string
  readonly onDelete: Action
  readonly onUpdate: Action
}

/** The side of a pair that has what is done on deletion, if one has. */
export function actionsOf(model: Model, relation: Relation): Relation['actions'] {
  return relation.actions ?? oppositeOf(model, relation)?.actions
}

export function oppositeOf(model: Model, { opposite = '' }: Relation): Relation | undefined {
  return holderOf(model, opposite)?.relations.find(({ id }) => id === opposite)
}

/** As the model file has it, where refusing at the end goes without saying. */
function actingOf(actions: Partial<Relation['actions']> = {}): object {
  const { onDelete = 'noAction', onUpdate = 'noAction' } = actions
  return { ...(onDelete !== 'noAction' && { onDelete }), ...(onUpdate !== 'noAction' && { onUpdate }) }
}

export function changeRelation(
  model: Model,
  collection: Collection,
  relation: Relation,
  typed: RelationChange,
): Change {
  const { name, opposite, onDelete, onUpdate } = typed
  const back = oppositeOf(model, relation)
  const actions = actionsOf(model, relation)
  const renamed = (side: Relation | undefined, to: string) =>
    side === undefined || side.apiName === to
      ? []
      : [{ kind: 'changeApiName', data: { fieldId: side.id, apiName: to } }]
  const acting = {
    ...(actions !== undefined && actions.onDelete !== onDelete && { onDelete }),
    ...(actions !== undefined && actions.onUpdate !== onUpdate && { onUpdate }),
  }
  const operations = [
    ...renamed(relation, name),
    ...renamed(back, opposite),
    ...(Object.keys(acting).length === 0 ? [] : [{ kind: 'changeReferentialActions', data: acting }]),
  ]
  return {
    ...named(`${collection.apiName}.${relation.apiName}`, `${collection.apiName}.${name}`),
    members: [actingOf(actions), actingOf(actions && typed)],
    operations:
      operations.length === 0 ? [] : [{ kind: 'updateRelationFieldPair', data: { ...sidesOf(relation), operations } }],
  }
}
