/** Changes of the model that are collected before they are reviewed: operations of a migration, made of what was typed. */
import type { Operation, Change as ServiceChange } from 'governed-data-client/system'
import { familyOf } from './families.ts'
import type { Collection, Default, Field, Index, Model, Relation } from './records.ts'

/**
 * `path` as in a plan: what it is about, by the name that it has now; `to` is the one that it gets. `members` are those of the
 * model file that it changes: what they are, and what they become.
 */
export type Change = Pick<ServiceChange, 'action' | 'path'> & {
  readonly operations: readonly Operation[]
  readonly to?: string
  readonly members?: readonly [before: object, after: object]
}

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

/** Whether something that is there is changed: a field, a relation, or the collection itself. */
export function isChanged(changes: readonly Change[], id: string): boolean {
  return operationsOf(changes).some((operation) => isAbout(operation, id))
}

/** The parts of a collection are about it where they are about nothing else: its name, and whether it has a history. */
function isAbout({ kind, data }: Operation, id: string): boolean {
  const { id: own, firstFieldId, secondFieldId, operations = [] } = data as Changing
  if (kind === 'updateCollection') {
    return operations.some((one) => (own === id && one.kind.startsWith('change')) || isAbout(one, id))
  }
  return kind.startsWith('update') && [own, firstFieldId, secondFieldId].includes(id)
}

type Changing = {
  readonly id?: string
  readonly firstFieldId?: string
  readonly secondFieldId?: string
  readonly operations?: readonly Operation[]
}

/** Names as the service takes them. */
export const NAME = '[A-Za-z][A-Za-z0-9_]*'

export type Ids = () => string

export const own: Ids = () => crypto.randomUUID()

/** A text that a database can have as a key which has none of any length. */
const LONG_KEY = { length: 'fixed', value: 255 }

/** The name of a new column, as the service chooses it for the model file: as the others of its table, or of its source, are written. */
export function columnName(
  model: Model,
  { sourceId, fields }: Pick<Collection, 'sourceId' | 'fields'>,
  name: string,
): string {
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
    type: key === 'string' && familyOf(model, sourceId).needsBounds ? typeOf(key, LONG_KEY) : typeOf(key),
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

export function within(collection: Collection, operations: readonly Operation[]): readonly Operation[] {
  return operations.length === 0 ? [] : [{ kind: 'updateCollection', data: { id: collection.id, operations } }]
}

export function renameCollection(collection: Collection, { name, dbName }: { name: string; dbName: string }): Change {
  const operations = [
    ...(name === collection.apiName ? [] : [{ kind: 'changeApiName', data: { apiName: name } }]),
    ...(dbName === collection.dbName ? [] : [{ kind: 'changeDbName', data: { dbName } }]),
  ]
  const members = [{ dbName: collection.dbName }, { dbName }] as const
  return { ...named(collection.apiName, name), operations: within(collection, operations), members }
}

/** How a change of something is listed that has another name afterwards, or the same. */
export function named(before: string, after: string): Omit<Change, 'operations'> {
  return before === after ? { action: 'change', path: before } : { action: 'rename', path: before, to: after }
}

export function switchHistory(collection: Collection): Change {
  const { apiName: path, hasHistory } = collection
  const changed = [{ kind: 'changeHasHistory', data: { hasHistory: !hasHistory } }]
  const members = hasHistory ? ([{ history: true }, {}] as const) : ([{}, { history: true }] as const)
  return { action: 'change', path, operations: within(collection, changed), members }
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
    ...named(`${collection.apiName}.${before.apiName}`, `${collection.apiName}.${after.apiName}`),
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

export function deleteRelation(collection: Collection, relation: Relation): Change {
  const operations = [{ kind: 'deleteRelationFieldPair', data: sidesOf(relation) }]
  return { action: 'delete', path: `${collection.apiName}.${relation.apiName}`, operations }
}

export function sidesOf({ id, opposite }: Relation) {
  return { firstFieldId: id, secondFieldId: opposite }
}

export function createNamespace(typed: { readonly sourceId: string; readonly dbName: string }, ids: Ids = own): Change {
  return {
    action: 'create',
    path: typed.dbName,
    operations: [{ kind: 'createNamespace', data: { id: ids(), ...typed } }],
  }
}
