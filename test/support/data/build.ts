/**
 * Models and read plans in a line or two. Ids are paths (`articles`, `articles.title`), database names are API names,
 * and there is no namespace, so that the texts of statements stay short.
 *
 *   const model = build.model(
 *     { authors: { id: 'int64', name: 'string?' }, articles: { id: 'int64', authorId: 'int64?', title: 'string(80)' } },
 *     ['articles.author(authorId) -> authors.articles'],
 *   )
 *   build.read(model, 'articles', 'fields=title,author.name&filter[title][_eq]=Live&limit=5')
 */
import { fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import type { FieldType, TypeName } from '../../../src/core/model/field-type.ts'
import {
  buildModel,
  type ConstraintRecord,
  type Model,
  type PrimitiveFieldRecord,
  type RelationFieldRecord,
} from '../../../src/core/model/model.ts'
import type { ReadPlan } from '../../../src/core/plan/plan.ts'
import { planList } from '../../../src/core/plan/read.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseListQuery } from '../../../src/core/query/parameters.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { compileRead } from '../../../src/core/sql/read.ts'
import { binder, type Statement } from '../../../src/core/sql/statement.ts'

/** `string`, `string(80)?`, `decimal(10,2)`, `int32[]`: type, `[]` for a list, `?` where null is allowed. */
type FieldText = string
type Shape = Readonly<Record<string, Readonly<Record<string, FieldText>>>>
/** `child.field(column, …) -> parent.field`; the parent's field may be left out, and ends in `?` where it is a to-one. */
type RelationText = string

export const build = { model, read, statement, type: fieldType }

/** The first field of a collection is its primary key. */
function model(shape: Shape, relations: readonly RelationText[] = []): Model {
  const primitiveFields = Object.entries(shape).flatMap(([collection, fields]) =>
    Object.entries(fields).map(([name, text]) => primitive(collection, name, text)),
  )
  const pairs = relations.map((text) => relation(text, primitiveFields))
  return buildModel(1, {
    sources: [{ id: 'main', apiName: 'main', provider: 'postgres' }],
    namespaces: [],
    collections: Object.keys(shape).map((name) => ({
      id: name,
      sourceId: 'main',
      namespaceId: null,
      dbName: name,
      apiName: name,
      isReadOnly: false,
      isSystem: false,
      isView: false,
    })),
    primitiveFields,
    relationFields: pairs.flatMap(({ fields }) => fields),
    constraints: pairs.map(({ constraint }) => constraint),
    indexes: Object.entries(shape).map(([name, fields]) => ({
      id: `${name}_pkey`,
      collectionId: name,
      dbName: `${name}_pkey`,
      kind: 'primary',
      fieldIds: Object.keys(fields)
        .slice(0, 1)
        .map((first) => `${name}.${first}`),
    })),
  })
}

/** What `GET /items/{name}?{search}` plans; by default for a caller who may do everything. */
function read(model: Model, name: string, search: string, viewer: Viewer = administrator): ReadPlan {
  const collection = found(model.byName.get(name), name)
  const access = viewer.accessTo(collection, 'read')
  if (access.kind === 'denied') throw new Error(`the viewer may not read ${name}`)
  const limits = { default: 100, max: 10_000 }
  return planList(
    { viewer, collection, access, limits, maxRows: Number.POSITIVE_INFINITY },
    parseListQuery(parseBrackets(search)),
  )
}

const administrator: Viewer = { accessTo: () => fullAccess, seesModel: true }

function primitive(collection: string, name: string, text: FieldText): PrimitiveFieldRecord {
  return {
    id: `${collection}.${name}`,
    collectionId: collection,
    dbName: name,
    apiName: name,
    type: fieldType(text.replace(/[?[\]]+$/, '')),
    isNullable: text.endsWith('?'),
    isList: text.includes('[]'),
    isReadOnly: false,
    defaultValue: null,
    isLoose: false,
    native: null,
  }
}

function fieldType(text: string): FieldType {
  const [, name = '', size = '0', scale = '0'] = found(text.match(/^(\w+)(?:\((\d+)(?:,\s*(\d+))?\))?$/), text)
  const isSized = text.includes('(')
  if (name === 'string') {
    return { name, params: isSized ? { length: 'fixed', value: Number(size) } : { length: 'unlimited' } }
  }
  if (name === 'decimal') {
    const bounds = { kind: 'constrained', precision: Number(size), scale: Number(scale) } as const
    return { name, params: isSized ? bounds : { kind: 'unconstrained' } }
  }
  return { name: name as Exclude<TypeName, 'string' | 'decimal'> }
}

function relation(
  text: RelationText,
  primitives: readonly PrimitiveFieldRecord[],
): { readonly fields: readonly RelationFieldRecord[]; readonly constraint: ConstraintRecord } {
  const pattern = /^(\w+)\.(\w+)\(([\w, ]+)\) -> (\w+)(?:\.(\w+)(\?)?)?$/
  const [, child = '', name = '', columns = '', parent = '', opposite, single] = found(text.match(pattern), text)
  const constrained = columns.split(/, */).map((column) => `${child}.${column}`)
  const id = `${child}.${name}`
  const oppositeId = opposite === undefined ? null : `${parent}.${opposite}`
  const keys = primitives.filter(({ collectionId }) => collectionId === parent).slice(0, constrained.length)
  const forward: RelationFieldRecord = {
    id,
    collectionId: child,
    apiName: name,
    oppositeCollectionId: parent,
    oppositeRelationFieldId: oppositeId,
    constraintId: `${id}_fkey`,
    isList: false,
    isNullable: primitives.some((field) => constrained.includes(field.id) && field.isNullable),
  }
  const backward = (backwardId: string): RelationFieldRecord => ({
    id: backwardId,
    collectionId: parent,
    apiName: opposite ?? '',
    oppositeCollectionId: child,
    oppositeRelationFieldId: id,
    constraintId: null,
    isList: single === undefined,
    isNullable: true,
  })
  return {
    fields: oppositeId === null ? [forward] : [forward, backward(oppositeId)],
    constraint: {
      id: `${id}_fkey`,
      dbName: `${child}_${name}_fkey`,
      onDelete: 'noAction',
      onUpdate: 'noAction',
      mappings: constrained.map((constrainedFieldId, index) => ({
        constrainedFieldId,
        referencedFieldId: found(keys[index], text).id,
      })),
    },
  }
}

function found<T>(value: T | null | undefined, text: string): T {
  if (value === null || value === undefined) throw new Error(`cannot build ${text}`)
  return value
}

/** The statement of a plan that has no placeholders. */
function statement(plan: ReadPlan, dialect: Dialect): Statement {
  return binder(compileRead(plan, dialect))(unbound)
}
