/** Changes of the model that are collected before they are reviewed: operations of a migration, made of what was typed. */
import type { Operation, Change as Told } from 'governed-data-client/system'
import {
  type Action,
  type Collection,
  type Default,
  type Field,
  holderOf,
  type Index,
  type Model,
  type Relation,
} from './records.ts'

/** `path` as in a plan: what it is about. */
export type Change = Pick<Told, 'action' | 'path'> & { readonly operations: readonly Operation[] }

export const operationsOf = (changes: readonly Change[]) => changes.flatMap(({ operations }) => operations)

/** Without one of them, and without all that came later and is about what it makes. */
export function without(changes: readonly Change[], at: number): readonly Change[] {
  const gone = new Set(madeBy(changes[at]?.operations ?? []))
  return changes.filter((change, index) => {
    if (index === at) return false
    const text = JSON.stringify(change.operations)
    if (index < at || ![...gone].some((id) => text.includes(id))) return true
    for (const id of madeBy(change.operations)) gone.add(id)
    return false
  })
}

/** Ids of all that operations make. */
export function madeBy(operations: readonly Operation[]): readonly string[] {
  return operations.flatMap(({ kind, data }): readonly string[] => {
    const { id, data: pair, firstField, secondField, operations: inner = [] } = data as Made
    const made = kind.startsWith('create') ? [id, ...sidesIn(pair), ...sidesIn({ firstField, secondField })] : []
    return [...made.filter((one) => one !== undefined), ...madeBy(inner)]
  })
}

type Sides = { readonly firstField?: { readonly id: string }; readonly secondField?: { readonly id: string } }
type Made = { readonly id?: string; readonly data?: Sides; readonly operations?: readonly Operation[] } & {
  readonly [K in keyof Sides]: Sides[K] | undefined
}

const sidesIn = (pair: { readonly [K in keyof Sides]?: Sides[K] | undefined } = {}) => [
  pair.firstField?.id,
  pair.secondField?.id,
]

/** The change at which something is made that is not there yet. */
export function makingOf(changes: readonly Change[], id: string): number | undefined {
  const at = changes.findIndex(({ operations }) => madeBy(operations).includes(id))
  return at === -1 ? undefined : at
}

/** As the service takes them; longer ones are refused by it. */
export const NAME = '[A-Za-z][A-Za-z0-9_]*'
const LONGEST = 63

export type Ids = () => string

const own: Ids = () => crypto.randomUUID()

/** The name of a new column, as the service chooses it for the model file: as the others of its table, or of its source, are written. */
function columnName(model: Model, { sourceId, fields }: Pick<Collection, 'sourceId' | 'fields'>, name: string): string {
  const all = model.collections.filter((one) => one.sourceId === sourceId && !one.isSystem)
  const style = styleOf(fields) ?? styleOf(all.flatMap((one) => one.fields))
  return style === 'snake' ? inSnakeCase(name) : name
}

function inSnakeCase(name: string): string {
  return name
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
}

function styleOf(fields: readonly Field[]): 'snake' | 'other' | undefined {
  if (fields.some(({ dbName }) => /[A-Z]/.test(dbName))) return 'other'
  return fields.some(({ dbName }) => dbName.includes('_')) ? 'snake' : undefined
}

export type NewCollection = {
  readonly name: string
  readonly dbName: string
  readonly sourceId: string
  readonly namespaceId: string
  readonly key: 'int64' | 'uuid' | 'string'
  readonly keyName: string
}

export function createCollection(model: Model, typed: NewCollection, ids: Ids = own): Change {
  const { name, dbName, sourceId, namespaceId, key, keyName } = typed
  const id = ids()
  const fieldId = ids()
  const filled: Readonly<Record<NewCollection['key'], Default | null>> = {
    int64: { source: 'connectorManaged', isAutoincrement: true },
    uuid: { source: 'engineManaged', onCreate: { kind: 'uuid' } },
    string: null,
  }
  const field = {
    id: fieldId,
    apiName: keyName,
    dbName: columnName(model, { sourceId, fields: [] }, keyName),
    type: typeOf(key),
    isNullable: false,
    isList: false,
  }
  const data = {
    id,
    sourceId,
    ...(namespaceId !== '' && { namespaceId }),
    apiName: name,
    dbName: dbName || name,
    operations: [
      { kind: 'createPrimitiveField', data: { ...field, defaultValue: filled[key] } },
      { kind: 'createIndex', data: { id: ids(), kind: 'primary', fieldIds: [fieldId] } },
    ],
  }
  return { action: 'create', path: name, operations: [{ kind: 'createCollection', data }] }
}

export function typeOf(name: string, params?: Readonly<Record<string, unknown>>): Field['type'] {
  if (params !== undefined) return { name, params }
  if (name === 'string') return { name, params: { length: 'unlimited' } }
  return name === 'decimal' ? { name, params: { kind: 'unconstrained' } } : { name }
}

function within(collection: Collection, operations: readonly Operation[]): readonly Operation[] {
  return operations.length === 0 ? [] : [{ kind: 'updateCollection', data: { id: collection.id, operations } }]
}

export function renameCollection(collection: Collection, { name, dbName }: { name: string; dbName: string }): Change {
  const operations = [
    ...(name === collection.apiName ? [] : [{ kind: 'changeApiName', data: { apiName: name } }]),
    ...(dbName === collection.dbName ? [] : [{ kind: 'changeDbName', data: { dbName } }]),
  ]
  return { action: 'rename', path: collection.apiName, operations: within(collection, operations) }
}

export function switchHistory(collection: Collection): Change {
  const changed = [{ kind: 'changeHasHistory', data: { hasHistory: !collection.hasHistory } }]
  return { action: 'change', path: collection.apiName, operations: within(collection, changed) }
}

/** Its relations go first, as a collection with relations is refused. */
export function deleteCollection(collection: Collection): Change {
  const pairs = collection.relations.filter(({ through, opposite }, at) => {
    const isSecond = collection.relations.findIndex(({ id }) => id === opposite)
    return through === undefined && (isSecond === -1 || isSecond > at)
  })
  const operations = [
    ...pairs.flatMap((one) => deleteRelation(collection, one).operations),
    { kind: 'deleteCollection', data: { id: collection.id } },
  ]
  return { action: 'delete', path: collection.apiName, operations }
}

export function createField(
  model: Model,
  collection: Collection,
  field: Omit<Field, 'id' | 'isReadOnly'>,
  ids: Ids = own,
): Change {
  const dbName = field.dbName || columnName(model, collection, field.apiName)
  const made = [{ kind: 'createPrimitiveField', data: { ...field, id: ids(), dbName } }]
  return { action: 'create', path: `${collection.apiName}.${field.apiName}`, operations: within(collection, made) }
}

/** What is another in it; `defaultValue` is absent where it stays as the database has it. */
export function changeField(
  collection: Collection,
  before: Field,
  after: Pick<Field, 'apiName' | 'dbName' | 'type' | 'isNullable'> & { readonly defaultValue?: Default | null },
): Change {
  const members = {
    changeApiName: 'apiName',
    changeDbName: 'dbName',
    changeType: 'type',
    changeIsNullable: 'isNullable',
    changeDefaultValue: 'defaultValue',
  } as const
  const operations = Object.entries(members).flatMap(([kind, member]) => {
    const isSame = after[member] === undefined || isAlike(after[member], before[member])
    return isSame ? [] : [{ kind, data: { [member]: after[member] } }]
  })
  const changed = operations.length === 0 ? [] : [{ kind: 'updatePrimitiveField', data: { id: before.id, operations } }]
  return {
    action: before.apiName === after.apiName ? 'change' : 'rename',
    path: `${collection.apiName}.${before.apiName}`,
    operations: within(collection, changed),
  }
}

/** Members may stand in any order. */
function isAlike(one: unknown, other: unknown): boolean {
  const sorted = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return JSON.stringify(one, sorted) === JSON.stringify(other, sorted)
}

export function deleteField(collection: Collection, { id, apiName }: Field): Change {
  const operations = within(collection, [{ kind: 'deletePrimitiveField', data: { id } }])
  return { action: 'delete', path: `${collection.apiName}.${apiName}`, operations }
}

export function createIndex(collection: Collection, index: Omit<Index, 'id'>, ids: Ids = own): Change {
  const operations = within(collection, [{ kind: 'createIndex', data: { id: ids(), ...index } }])
  return { action: 'create', path: indexPath(collection, index), operations }
}

export function deleteIndex(collection: Collection, index: Index): Change {
  const operations = within(collection, [{ kind: 'deleteIndex', data: { id: index.id } }])
  return { action: 'delete', path: indexPath(collection, index), operations }
}

function indexPath({ apiName, fields }: Collection, { kind, fieldIds }: Omit<Index, 'id'>): string {
  const names = fieldIds.map((id) => fields.find((field) => field.id === id)?.apiName ?? id).join(', ')
  return `${apiName}: ${kind === 'normal' ? '' : `${kind} `}${names}`
}

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
  const isLed = owner.indexes.some(
    ({ kind, fieldIds: of }) => (!isUnique || kind !== 'normal') && fieldIds.every((id, at) => of[at] === id),
  )
  const index = { id: ids(), kind: isUnique ? 'unique' : 'normal', fieldIds }
  const needed = isLed ? [] : [{ kind: 'createIndex', data: index }]
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
  const columns = key.map(({ apiName, type }, at) => {
    const there = owner.fields.find(({ id }) => id === by[at])
    if (there !== undefined) return { id: there.id, dbName: there.dbName, created: [] }
    const called = `${name}${apiName.charAt(0).toUpperCase()}${apiName.slice(1)}`
    const data = { id: ids(), apiName: called, dbName: columnName(model, owner, called), type }
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
    action: relation.apiName === name ? 'change' : 'rename',
    path: `${collection.apiName}.${relation.apiName}`,
    operations:
      operations.length === 0 ? [] : [{ kind: 'updateRelationFieldPair', data: { ...sidesOf(relation), operations } }],
  }
}

export function deleteRelation(collection: Collection, relation: Relation): Change {
  const operations = [{ kind: 'deleteRelationFieldPair', data: sidesOf(relation) }]
  return { action: 'delete', path: `${collection.apiName}.${relation.apiName}`, operations }
}

function sidesOf({ id, opposite }: Relation) {
  return { firstFieldId: id, secondFieldId: opposite }
}

export function createNamespace(typed: { readonly sourceId: string; readonly dbName: string }, ids: Ids = own): Change {
  return {
    action: 'create',
    path: typed.dbName,
    operations: [{ kind: 'createNamespace', data: { id: ids(), ...typed } }],
  }
}
