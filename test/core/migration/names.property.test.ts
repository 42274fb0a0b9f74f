/** The names of an import, for any schema: by the law of docs/contract.md#introspection. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseNames } from '../../../src/core/migration/names.ts'
import { apiNameSchema } from '../../../src/core/model/api-name.ts'
import { buildModel, type ModelRecords } from '../../../src/core/model/model.ts'
import type { SourceSchema, SourceTable } from '../../../src/core/sql/source-schema.ts'
import { id, workspace } from './build.ts'
import { column, diff } from './schema.ts'

const places = ['public', 'sales', 'archive'].flatMap((schema) =>
  ['orders', 'order_items', 'users', 'area', 'Orders', 'orderItems'].map((dbName) => ({ schema, dbName })),
)
const columnNames = [
  'user_id',
  'userId',
  'user',
  'area',
  'area_id',
  'orders',
  'from_user_id',
  'to_user_id',
  'x'.repeat(70),
]

const anyKey = fc.record({
  columns: fc.uniqueArray(fc.constantFrom(...columnNames), { minLength: 1, maxLength: 2 }),
  to: fc.nat(),
})
const anyTable = fc.record({
  place: fc.constantFrom(...places),
  columns: fc.shuffledSubarray(columnNames),
  keys: fc.array(anyKey, { maxLength: 4 }),
})

type Drawn = {
  readonly place: (typeof places)[number]
  readonly columns: readonly string[]
  readonly keys: readonly Key[]
}
type Key = { readonly columns: readonly string[]; readonly to: number }

const anySchema = fc
  .uniqueArray(anyTable, { selector: ({ place }) => JSON.stringify(place), minLength: 1, maxLength: 7 })
  .map(drawnSchema)

function drawnSchema(tables: readonly Drawn[]): SourceSchema {
  return {
    defaultNamespace: 'public',
    knowsRelations: true,
    skipped: [],
    namespaces: ['archive', 'public', 'sales'],
    tables: tables.map(
      ({ place, columns, keys }): SourceTable => ({
        ...place,
        isReadOnly: false,
        isView: false,
        columns: [...new Set(['id', 'other', ...columns, ...keys.flatMap((key) => key.columns)])].map((name) =>
          column(name),
        ),
        indexes: [
          { dbName: 'pkey', kind: 'primary', columns: ['id'], isImplied: false },
          { dbName: 'other', kind: 'unique', columns: ['id', 'other'], isImplied: false },
          ...linkKey(keys),
        ],
        foreignKeys: keys.map((key, position) => ({
          dbName: `fk ${'abcdefgh'.charAt(position)}`,
          columns: key.columns,
          references: {
            ...(tables[key.to % tables.length] ?? { place }).place,
            columns: ['id', 'other'].slice(0, key.columns.length),
          },
          onDelete: 'noAction',
          onUpdate: 'noAction',
        })),
      }),
    ),
  }
}

/** In a schema that needs a mention and in one that needs none. */
const differingByCase = drawnSchema(
  ['archive', 'public'].flatMap((schema) =>
    ['Orders', 'orders'].map((dbName) => ({ place: { schema, dbName }, columns: [], keys: [] })),
  ),
)

/** Makes a junction of a table with two foreign keys. */
function linkKey(keys: readonly Key[]): SourceTable['indexes'] {
  const columns = [...new Set(keys.flatMap((key) => key.columns))]
  return keys.length === 2 ? [{ dbName: 'link', kind: 'unique', columns, isImplied: false }] : []
}

const shop = id('_system')
/** In a source with schemas of its own. */
const importInto = (records: ModelRecords, schema: SourceSchema) => diff(records, schema, id('crm'), randomUUID)

/** The name of everything, by what it is in the database. */
function namesIn(records: ModelRecords): Readonly<Record<string, string>> {
  const own = [...buildModel(1, records).collections.values()].filter(({ sourceId }) => sourceId !== shop)
  const placeOf = ({ schema, dbName }: { readonly schema: string | undefined; readonly dbName: string }) =>
    `${schema}.${dbName}`
  const constraints = new Map(records.constraints.map((one) => [one.id, one.dbName]))
  return Object.fromEntries(
    own.flatMap((collection) => [
      [placeOf(collection), collection.apiName],
      ...collection.primitives.map((field) => [`${placeOf(collection)}.${field.dbName}`, field.apiName]),
      ...collection.relations.map((field) => {
        const far = field.through?.far
        if (far !== undefined) {
          return [`${placeOf(far.collection)} ${constraints.get(far.id)} many`, field.apiName]
        }
        const owner = field.isForward ? field : field.opposite
        const key = `${placeOf(owner?.collection ?? collection)} ${constraints.get(owner?.id ?? '')}`
        return [`${key} ${field.isForward}`, field.apiName]
      }),
    ]),
  )
}

describe('the names of an import', () => {
  it('do not depend on the order of anything', () => {
    const shuffled = anySchema.chain((schema) =>
      fc.tuple(fc.constant(schema), fc.shuffledSubarray([...schema.tables], { minLength: schema.tables.length })),
    )

    fc.assert(
      fc.property(shuffled, ([schema, tables]) => {
        const turned = tables.map((table) => ({
          ...table,
          columns: table.columns.toReversed(),
          foreignKeys: table.foreignKeys.toReversed(),
        }))

        expect(namesIn(importInto(workspace, { ...schema, tables: turned }).records)).toEqual(
          namesIn(importInto(workspace, schema).records),
        )
      }),
    )
  })

  it('are valid, and no two fields of a collection or collections share one', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const { records } = importInto(workspace, schema)

        const collections = records.collections.map(({ apiName }) => apiName)
        expect(new Set(collections).size).toBe(collections.length)
        for (const { id: collectionId } of records.collections) {
          const fields = [...records.primitiveFields, ...records.relationFields].filter(
            (field) => field.collectionId === collectionId,
          )
          expect(new Set(fields.map(({ apiName }) => apiName)).size).toBe(fields.length)
          for (const { apiName } of fields) expect(apiNameSchema().safeParse(apiName).success).toBe(true)
        }
      }),
    )
  })

  it('have no number, since tables, columns and constraints tell everything apart', () => {
    const short = anySchema.filter(({ tables }) =>
      tables.every(({ columns }) => columns.every(({ dbName }) => dbName.length < 60)),
    )

    fc.assert(
      fc.property(short, (schema) => {
        const names = Object.values(namesIn(importInto(workspace, schema).records))

        expect(names.filter((name) => /\d$/.test(name))).toEqual([])
      }),
      { examples: [[differingByCase]] },
    )
  })

  it('stay when the same is imported again, and when more is', () => {
    fc.assert(
      fc.property(anySchema, fc.nat(), (schema, count) => {
        const tables = schema.tables.slice(0, 1 + (count % schema.tables.length))
        const first = importInto(workspace, { ...schema, tables }).records
        const second = importInto(first, schema).records

        expect(importInto(second, schema)).toEqual({ records: second, operations: [] })
        expect(namesIn(second)).toMatchObject(namesIn(first))
      }),
    )
  })
})

describe('what its candidates do not tell apart', () => {
  it('is numbered by what it is, not by its place in a list', () => {
    const things = ['c', 'a', 'b'].map((rank) => ({ rank, candidates: ['name'] }))

    const names = chooseNames(things, new Set(['name_2']))

    expect(Object.fromEntries([...names].map(([{ rank }, name]) => [rank, name]))).toEqual({
      a: 'name',
      b: 'name_3',
      c: 'name_4',
    })
    expect([...names.keys()]).toEqual(things)
  })
})
