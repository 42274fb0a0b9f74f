/** docs/contract.md#the-model-as-a-file on databases: one file after the other, data kept, and an import finds nothing to add. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ManifestText, type ModelText, writeModelSchema, writeSchema } from '../../packages/client/src/generate.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('file_databases', {})
})

afterAll(() => servers?.close())

type Collections = Record<string, { fields: Record<string, unknown> } & Record<string, unknown>>

/** Each with what is changed against the one before it. */
const steps: readonly (readonly [string, Collections])[] = [
  [
    'new collections with relations',
    {
      books: {
        fields: {
          id: 'int64 auto',
          author: { to: 'writers?', onDelete: 'setNull' },
          tags: { many: 'tags' },
          title: 'string(100)',
        },
        indexes: ['unique title'],
      },
      tags: { fields: { id: 'int32 auto', name: 'string(40)' } },
      writers: { fields: { id: 'int64 auto', name: 'string(40)' } },
    },
  ],
  [
    'names of collections, fields, relations and made columns',
    {
      people: {
        fields: { id: 'int64 auto', fullName: { type: 'string(40)', renamedFrom: 'name' } },
        renamedFrom: 'writers',
      },
      tags: { fields: { id: 'int32 auto', name: 'string(40)' } },
      volumes: {
        fields: {
          id: 'int64 auto',
          tags: { many: 'tags' },
          title: 'string(100)',
          writer: { to: 'people?', onDelete: 'setNull', renamedFrom: 'author' },
        },
        indexes: ['unique title'],
        renamedFrom: 'books',
      },
    },
  ],
  [
    'types, keys, actions, indexes and a relation to one',
    {
      people: { fields: { id: 'int64 auto', fullName: 'string(80)?' }, indexes: ['fullName'] },
      shelves: { fields: { room: 'string(20)', no: 'int32' }, key: ['room', 'no'] },
      tags: { fields: { id: 'int32 auto', name: { type: 'string(40)', default: 'none' } }, indexes: ['unique name'] },
      volumes: {
        fields: {
          id: 'int64 auto',
          place: { to: 'shelves?', unique: true },
          tags: { many: 'tags' },
          title: 'string(100)',
          writer: { to: 'people?' },
        },
        indexes: ['title, writer'],
      },
    },
  ],
  [
    'less',
    {
      people: { fields: { id: 'int64 auto', fullName: 'string(80)?' } },
      volumes: { fields: { id: 'int64 auto', title: 'string(100)', writer: { to: 'people?', index: false } } },
    },
  ],
]

describe.each(['_system', 'postgres', 'mariadb'] as const)('%s', (provider) => {
  const prefix = provider === '_system' ? 's' : provider.slice(0, 1)
  const source = provider === '_system' ? '_system' : `source_${provider}`
  let sourceId: string

  beforeAll(async () => {
    sourceId = shop.sourceId
    if (provider === '_system') return
    const { config } = servers[provider]
    const response = await shop.post('/sources/data', { apiName: source, provider, config })
    expect(response.status).toBe(200)
    sourceId = ((await response.json()) as { data: { id: string } }).data.id
  })

  it.each(steps)('takes %s', async (_, collections) => {
    const model = await modelOf(collections)
    const planned = await planOf(model)
    const applied = await shop.post('/schema/apply', { model, plan: planned.plan, allow: ['drop'] })
    expect(applied.status, await applied.text()).toBe(200)

    const imported = await shop.send('POST', `/schema/introspect/${sourceId}`)
    const file = (await (await shop.get('/schema/model?ids=false')).json()) as { collections: Collections }
    const { data } = (await imported.json()) as { data: { operations: { kind: string }[] } }
    expect(file.collections).toEqual(withoutRenames(model.collections))
    expect((await planOf(model)).operations).toEqual([])
    expect(data.operations.filter(({ kind }) => kind !== 'createNamespace')).toEqual([])
    const people = collections.people === undefined ? 'writers' : 'people'
    const books = named(people === 'writers' ? 'books' : 'volumes')
    if (people === 'writers') {
      await shop.insert(named('writers'), [{ name: 'Ada' }])
      await shop.insert(books, [{ title: 'Notes', tags: [{ _create: { data: [{ name: 'old' }] } }] }])
    } else expect(await shop.data(`/items/${named('people')}?fields=fullName`)).toEqual([{ fullName: 'Ada' }])
    if (collections.tags === undefined) return
    expect(await shop.data(`/items/${books}?fields=title,tags.name`)).toEqual([
      { title: 'Notes', tags: { data: [{ name: 'old' }] } },
    ])
    expect(await shop.data(`/items/${named('tags')}?fields=${books}.title`)).toEqual([
      { [books]: { data: [{ title: 'Notes' }] } },
    ])
  })

  it.runIf(provider !== '_system')(
    'gives the types that the service gives, whatever the order of columns',
    async () => {
      if (provider === '_system') return
      const [grid, pins, places] = ['grid', 'pins', 'places'].map(named)
      // MariaDB refers to the columns of a key in its order alone.
      const referenced = provider === 'postgres' ? 'y, x' : 'x, y'
      await servers[provider].run(
        `create table ${grid} (x int, y int, primary key (x, y))`,
        `create table ${pins} (id int primary key, gy int, gx int, unique (gx, gy), foreign key (gy, gx) references ${grid} (${referenced}))`,
        `create table ${places} (id int primary key, a int not null, b int not null, unique (b, a),
        foreign key (a, b) references ${grid} (x, y))`,
      )
      expect((await shop.send('POST', `/schema/introspect/${sourceId}`)).status).toBe(200)

      const manifest = (await (await shop.get('/schema')).json()) as ManifestText
      const file = (await (await shop.get('/schema/model?ids=false')).json()) as ModelText

      expect(writeModelSchema(file)).toBe(writeSchema(manifest))
    },
  )

  it.runIf(provider !== '_system')('names new columns as those of the table are named', async () => {
    if (provider === '_system') return
    const [table, orders] = [named('orders'), `${prefix}Orders`]
    await servers[provider].run(`create table ${table} (id int primary key, paid_on date)`)
    expect((await shop.send('POST', `/schema/introspect/${sourceId}`)).status).toBe(200)
    const file = (await (await shop.get('/schema/model?ids=false')).json()) as { collections: Collections }
    const fields = { ...file.collections[orders]?.fields, shipTo: 'string(9)?', parent: { to: `${orders}?` } }
    const model = { ...file, collections: { ...file.collections, [orders]: { ...file.collections[orders], fields } } }
    const { plan } = await planOf(model)

    const applied = await shop.post('/schema/apply', { model, plan })

    expect(applied.status, await applied.text()).toBe(200)
    await servers[provider].run(`insert into ${table} (id, ship_to, parent_id) values (1, 'here', 1)`)
    expect(await shop.data(`/items/${orders}?fields=shipTo,parent.shipTo`)).toEqual([
      { shipTo: 'here', parent: { shipTo: 'here' } },
    ])
    const imported = await shop.send('POST', `/schema/introspect/${sourceId}`)
    const { data } = (await imported.json()) as { data: { operations: { kind: string }[] } }
    expect(data.operations.filter(({ kind }) => kind !== 'createNamespace')).toEqual([])
    expect((await planOf(model)).operations).toEqual([])
    expect((await planOf((await (await shop.get('/schema/model')).json()) as object)).operations).toEqual([])
  })

  const named = (name: string) => `${prefix}_${name}`

  /** The other sources stay as they are, since the file names this one alone; _system is always named. */
  async function modelOf(collections: Collections) {
    const text = JSON.stringify(collections).replaceAll(
      /"(books|tags|writers|people|volumes|shelves)(\??)"(?=:\{"fields"|,"renamedFrom"|[,}])/g,
      (_, name: string, mark: string) => `"${named(name)}${mark}"`,
    )
    const own = JSON.parse(text) as Collections
    const rest = ((await (await shop.get('/schema/model?ids=false')).json()) as { collections: Collections })
      .collections
    const others = Object.entries(rest).filter(([name]) => !name.startsWith(`${prefix}_`))
    const mine = Object.entries(own).map(([name, collection]) => [
      name,
      provider === '_system' ? collection : { ...collection, source },
    ])
    const sources = { source_postgres: 'postgres', source_mariadb: 'mariadb' }
    const known = Object.entries(sources).filter(([name]) => isThere(name))
    return {
      version: 1,
      sources: Object.fromEntries(known),
      collections: Object.fromEntries([...others, ...mine]) as Collections,
    }
  }

  function isThere(name: string): boolean {
    return provider === 'mariadb' || (provider === 'postgres' && name === 'source_postgres')
  }
})

async function planOf(model: object): Promise<{ plan: string; operations: object[] }> {
  const response = await shop.post('/schema/plan', { model })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (JSON.parse(text) as { data: { plan: string; operations: object[] } }).data
}

function withoutRenames(collections: Collections): unknown {
  return JSON.parse(
    JSON.stringify(collections, (name, value) => (name === 'renamedFrom' ? undefined : value)).replace(
      /\{"type":"([^"]+)"\}/g,
      '"$1"',
    ),
  )
}
