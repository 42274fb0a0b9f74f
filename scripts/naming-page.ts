/** Makes docs/names.md: the names that an introspection gives to example schemas. */

import { conventionalName } from '../src/core/migration/derive.ts'
import { diffModel } from '../src/core/migration/diff/diff.ts'
import { buildModel, type Collection, noRecords, type RelationField } from '../src/core/model/model.ts'
import { atOnce } from '../src/core/parts.ts'
import type { SourceForeignKey, SourceSchema, SourceTable } from '../src/core/sql/source-schema.ts'

/** The foreign keys of each table: columns and the table that they refer to. `by key` marks those that have no other key. */
type Example = { readonly title: string; readonly tables: Readonly<Record<string, Readonly<Record<string, string>>>> }
const BY_KEY = ' by key'

const examples: readonly Example[] = [
  {
    title: 'A music shop, with names in capitals',
    tables: {
      Artist: {},
      Album: { ArtistId: 'Artist' },
      Track: { AlbumId: 'Album' },
      Playlist: {},
      'PlaylistTrack by key': { PlaylistId: 'Playlist', TrackId: 'Track' },
      Employee: { ReportsTo: 'Employee' },
      Customer: { SupportRepId: 'Employee' },
    },
  },
  {
    title: 'Tables that refer to themselves',
    tables: {
      categories: { parent_id: 'categories' },
      users: {},
      'follows by key': { follower_id: 'users', followed_id: 'users' },
    },
  },
  {
    title: 'Tables that refer twice to another',
    tables: {
      users: {},
      messages: { from_user_id: 'users', to_user_id: 'users' },
      films: { director_id: 'people' },
      people: {},
      'film_people by key': { film_id: 'films', person_id: 'people' },
      'film_critics by key': { film_id: 'films', person_id: 'people' },
    },
  },
  {
    title: 'Columns without a suffix',
    tables: {
      place: {},
      artist: { area: 'place', begin_area_id: 'place', end_area_id: 'place' },
    },
  },
  {
    title: 'Keys of several columns',
    tables: {
      tenants: {},
      users: { tenant_id: 'tenants' },
      tickets: { tenant_id: 'tenants', 'tenant_id, author_id': 'users', 'tenant_id, assignee_id': 'users' },
    },
  },
  {
    title: 'One table name in three schemas, of which `public` needs no mention',
    tables: {
      'public.orders': {},
      'sales.orders': { origin_id: 'public.orders' },
      'archive.orders': { order_id: 'sales.orders' },
    },
  },
]

export function namingPage(): string {
  return `# Names on import

Generated from \`src/core/migration\` by \`npm run docs\`; do not edit.

What an introspection finds is named by these rules; a name that is in the model already stays, and within one introspection no name depends on
an order. [Rename](api.md#migrations) what you would call otherwise.

- A collection is named after its table. Where several have that name, those outside of the usual schema are told apart by their schema, and
  what is in another source already by the source: \`salesOrders\`, \`crmOrders\`; where that is alike, with the table's own spelling: \`sales_orders\`.
- A field is named after its column, transliterated and in camelCase; where that is taken, by the column's own spelling, then with \`Column\`.
- The side of a relation that has the foreign key is named after its column without \`_id\`: \`author\`. Where that is taken, as by a column that has
  no suffix, the target follows: \`areaPlace\`. A key of several columns is named after the one that no other key of its table has, else after the
  target.
- The other side is named after the collection that refers to it; where several relations connect the two, with \`By\` and the name there:
  \`messagesByFromUser\`.
- A table whose only two foreign keys make its primary key, or a unique index, is a junction. It gives both sides a many-to-many field, named
  after the collection at the other side: \`films.actors\`; where that is taken, with \`By\` and the junction. In a junction of a table with itself
  it is \`By\` and the relation at this side: \`usersByFollower\` of a user are those in the rows whose \`follower\` that user is.
- What is still alike is told apart by the spelling of the column, by \`Of\` and the name of the constraint, and by a number where even those
  are the same.
${examples.map(section).join('')}`
}

function section({ title, tables }: Example): string {
  return `
## ${title}

| Table | Foreign key | to | Collection and field there | Field at the other side | Many-to-many there |
|---|---|---|---|---|---|
${rowsOf(schemaOf(tables)).join('\n')}
`
}

function rowsOf(schema: SourceSchema): readonly string[] {
  let count = 0
  const newId = () => {
    count += 1
    return String(count)
  }
  const source = { id: 'shop', apiName: 'shop', provider: 'postgres' }
  const context = { newId, workspace: 'demo', toApiName: (name: string) => conventionalName(name, (text) => text) }
  const { records } = atOnce(diffModel({ ...noRecords, sources: [source] }, source.id, { schema, context }))
  const model = buildModel(1, records)
  return [...model.collections.values()].flatMap((collection) => {
    const own = collection.relations.filter(({ isForward }) => isForward)
    if (own.length === 0) return [`| \`${placeOf(collection)}\` | | | \`${collection.apiName}\` | | |`]
    return own.map(relationRow)
  })
}

function relationRow({ collection, target, joins, apiName, opposite }: RelationField): string {
  const columns = joins.map(({ own }) => own.dbName).join(', ')
  const many = target.relations.find(({ through }) => through !== undefined && through.near === opposite)
  const cells = [placeOf(collection), columns, placeOf(target), `${collection.apiName}.${apiName}`]
  const there = [opposite, many].flatMap((field) => (field === undefined ? [] : [`${target.apiName}.${field.apiName}`]))
  return `| ${[...cells, ...there].map((text) => `\`${text}\``).join(' | ')} |${many === undefined ? ' |' : ''}`
}

function placeOf({ schema, dbName }: Collection): string {
  return schema === 'public' ? dbName : `${schema}.${dbName}`
}

function schemaOf(tables: Example['tables']): SourceSchema {
  const places = Object.keys(tables).map(tableNameOf)
  return {
    defaultNamespace: 'public',
    knowsRelations: true,
    skipped: [],
    namespaces: [...new Set(places.map(({ schema }) => schema))],
    tables: Object.entries(tables).map(([name, keys]) => tableOf(name, keys)),
  }
}

function tableNameOf(name: string): { readonly schema: string; readonly dbName: string } {
  const [first = '', second] = name.replace(BY_KEY, '').split('.')
  return second === undefined ? { schema: 'public', dbName: first } : { schema: first, dbName: second }
}

function tableOf(name: string, keys: Readonly<Record<string, string>>): SourceTable {
  const place = tableNameOf(name)
  const own = Object.keys(keys).map((columns) => columns.split(', '))
  const names = [...new Set(['id', 'tenant_id', ...own.flat()])]
  return {
    ...place,
    isReadOnly: false,
    isView: false,
    columns: names.map((dbName) => ({
      dbName,
      type: { name: 'int64' },
      isNullable: false,
      isList: false,
      isReadOnly: false,
      defaultKind: 'none',
      isLoose: false,
      native: null,
    })),
    indexes: [
      { dbName: 'key', kind: 'primary', columns: name.endsWith(BY_KEY) ? own.flat() : ['id'], isImplied: false },
    ],
    foreignKeys: Object.entries(keys).map(([columns, target]): SourceForeignKey => {
      const those = columns.split(', ')
      return {
        dbName: `${place.dbName}_${those.join('_')}_fkey`,
        columns: those,
        references: { ...tableNameOf(target), columns: ['tenant_id', 'id'].slice(-those.length) },
        onDelete: 'noAction',
        onUpdate: 'noAction',
      }
    }),
  }
}
