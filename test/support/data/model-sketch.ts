/**
 * A data model in a few lines → the operations of the migration that makes it, and what a random request has to know of
 * it. Knows nothing of the core but type texts.
 *
 *   const shop: Drawing = {
 *     collections: { authors: { id: 'int64 = counted', name: 'string(80)?' }, books: { id: 'uuid = uuid', authorId: 'int64' } },
 *     keys: { books: [['unique', 'authorId']] },
 *     relations: ['books.author(authorId) -> authors.book?'],
 *   }
 */
import { randomUUID } from 'node:crypto'
import type { TypeName } from '../../../src/core/model/field-type.ts'
import { build } from './build.ts'

export type Drawing = {
  /** Type, `[]` for a list, `?` where null is allowed, and ` = counted`, ` = uuid`, ` = now` or ` = a text`. */
  readonly collections: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Indexes where they are not just the first field as the primary key, which then is among them or missing. */
  readonly keys: Readonly<
    Record<string, readonly (readonly [kind: 'primary' | 'unique' | 'normal', ...fields: string[]])[]>
  >
  /** `child.field(columns) -> parent.field`, to the parent's first fields; `?` where the parent's side is to one. */
  readonly relations: readonly string[]
  /** The collections that have a history. */
  readonly recorded?: readonly string[]
}

export type FieldSketch = {
  readonly name: string
  /** The type's text without its size, such as `decimal`. */
  readonly type: TypeName
  readonly isList: boolean
  readonly isNullable: boolean
  readonly isRequired: boolean
}

export type RelationSketch = {
  readonly name: string
  readonly target: string
  readonly opposite: string
  readonly isList: boolean
  /** The foreign key, where it is this collection's. */
  readonly columns: readonly string[]
}

export type CollectionSketch = {
  readonly name: string
  readonly fields: readonly FieldSketch[]
  readonly relations: readonly RelationSketch[]
}

/** The body of the migration; `sourceId` is the workspace's `_system` source. */
export function operationsOf(
  { collections, keys, relations, recorded = [] }: Drawing,
  sourceId: string,
): readonly unknown[] {
  const ids = new Map<string, string>()
  const id = (name: string) => {
    const known = ids.get(name) ?? randomUUID()
    ids.set(name, known)
    return known
  }
  const created = Object.entries(collections).map(([collection, fields]) => {
    const createFields = Object.entries(fields).map(([name, text]) => ({
      kind: 'createPrimitiveField',
      data: { id: id(`${collection}.${name}`), dbName: name, apiName: name, ...definition(text) },
    }))
    const indexes = keys[collection] ?? [['primary', Object.keys(fields)[0] ?? ''] as const]
    const createIndexes = indexes.map(([kind, ...names]) => ({
      kind: 'createIndex',
      data: {
        id: randomUUID(),
        dbName: `${collection}_${names.join('_')}_${kind}`,
        kind,
        fieldIds: names.map((name) => id(`${collection}.${name}`)),
      },
    }))
    const hasHistory = recorded.includes(collection)
    const data = {
      id: id(collection),
      sourceId,
      namespaceId: null,
      dbName: collection,
      apiName: collection,
      hasHistory,
    }
    return { kind: 'createCollection', data: { ...data, operations: [...createFields, ...createIndexes] } }
  })
  const related = relations.map((text) => {
    const { child, name, columns, parent, opposite, isToOne } = readRelation(text)
    const referenced = Object.keys(collections[parent] ?? {}).slice(0, columns.length)
    const side = (collection: string, apiName: string, fields: readonly string[]) => ({
      id: randomUUID(),
      apiName,
      collectionId: id(collection),
      fieldIds: fields.map((field) => id(`${collection}.${field}`)),
    })
    const data = {
      relationName: `${child}_${name}`,
      firstField: { ...side(child, name, columns), isList: false, isConstrained: true },
      secondField: { ...side(parent, opposite, referenced), isList: !isToOne, isConstrained: false },
    }
    return { kind: 'createRelationFieldPair', data: { kind: 'single', data } }
  })
  return [...created, ...related]
}

export function sketchesOf({ collections, relations }: Drawing): readonly CollectionSketch[] {
  const links = relations.map(readRelation)
  return Object.entries(collections).map(([name, fields]) => ({
    name,
    fields: Object.entries(fields).map(([field, text]) => sketch(field, text)),
    relations: [
      ...links.filter(({ child }) => child === name).map((link) => ({ ...link, target: link.parent, isList: false })),
      ...links
        .filter(({ parent }) => parent === name)
        .map((link) => ({
          name: link.opposite,
          target: link.child,
          opposite: link.name,
          isList: !link.isToOne,
          columns: [],
        })),
    ],
  }))
}

function sketch(name: string, text: string): FieldSketch {
  const [type = '', initial] = text.split(' = ')
  const isNullable = type.endsWith('?')
  return {
    name,
    type: type.replace(/[^a-zA-Z0-9].*$/, '') as TypeName,
    isList: type.includes('[]'),
    isNullable,
    isRequired: !isNullable && initial === undefined,
  }
}

function definition(text: string) {
  const [type = '', initial] = text.split(' = ')
  return {
    type: build.type(type.replace(/[?[\]]+$/, '')),
    isNullable: type.endsWith('?'),
    isList: type.includes('[]'),
    defaultValue: initial === undefined ? null : defaultOf(initial),
  }
}

function defaultOf(initial: string) {
  if (initial === 'counted') return { source: 'connectorManaged', isAutoincrement: true }
  if (initial === 'uuid') return { source: 'engineManaged', onCreate: { kind: 'uuid' } }
  if (initial === 'now') return { source: 'engineManaged', onCreate: { kind: 'now' }, onUpdate: { kind: 'now' } }
  return { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded: initial } }
}

function readRelation(text: string) {
  const match = text.match(/^(\w+)\.(\w+)\(([\w, ]+)\) -> (\w+)\.(\w+)(\?)?$/)
  if (match === null) throw new Error(`cannot draw ${text}`)
  const [, child = '', name = '', columns = '', parent = '', opposite = '', single] = match
  return { child, name, columns: columns.split(/, */), parent, opposite, isToOne: single !== undefined }
}
