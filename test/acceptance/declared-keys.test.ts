/** Views get a key and relations in the model alone, are read and written by them, and keep them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
})

afterAll(() => servers?.close())

const tables = [
  'create table maker (id int primary key, name varchar(40) not null)',
  'create table lamp (id int primary key, title varchar(40) not null, maker_id int, watts int default 7)',
  `insert into maker values (1, 'Ada'), (2, 'Bo')`,
  `insert into lamp values (1, 'Arc', 1, 20), (2, 'Bulb', 1, 9), (3, 'Candle', 2, 1)`,
  'create view bright as select id, title, maker_id, watts from lamp where watts > 5 with check option',
  'create view makers as select maker_id, count(*) as lamps from lamp group by maker_id',
  'create view words as select title, maker_id, upper(title) as loud from lamp',
]

type Field = { readonly id: string; readonly apiName: string; readonly isNullable: boolean }
type Index = { readonly id: string; readonly kind: string }
type Collection = { readonly id: string; readonly primitiveFields: Field[]; readonly indexes: Index[] }

describe.each(['postgres', 'mariadb'] as const)('on %s', (provider) => {
  let shop: Workspace
  let source: string

  beforeAll(async () => {
    const { config, run } = servers[provider]
    await run(...tables)
    if (provider === 'postgres') await run('create materialized view kept as select id, title from lamp')
    shop = await world.workspace(`declared_${provider}`, {})
    const made = await shop.post('/sources/data', { apiName: 'shop', provider, config })
    source = ((await made.json()) as { data: { id: string } }).data.id
    expect(await introspected()).not.toEqual([])
  })

  async function introspected(): Promise<unknown> {
    const response = await shop.send('POST', `/schema/introspect/${source}`)
    expect(response.status).toBe(200)
    return ((await response.json()) as { data: { operations: unknown } }).data.operations
  }

  async function collection(name: string): Promise<Collection> {
    const [found] = (await shop.data(
      `/items/ServiceCollection?filter[apiName][_eq]=${name}&fields=id,primitiveFields.*,indexes.*`,
    )) as [{ id: string; primitiveFields: { data: Field[] }; indexes: { data: Index[] } }]
    return { id: found.id, primitiveFields: found.primitiveFields.data, indexes: found.indexes.data }
  }

  async function fieldId(name: string, field: string): Promise<string> {
    const { primitiveFields } = await collection(name)
    return primitiveFields.find(({ apiName }) => apiName === field)?.id ?? ''
  }

  async function migrate(...operations: readonly object[]): Promise<{ status: number; text: string }> {
    const response = await shop.post('/schema/migrate', { operations })
    return { status: response.status, text: await response.text() }
  }

  async function update(name: string, ...operations: readonly object[]) {
    const { id } = await collection(name)
    return migrate({ kind: 'updateCollection', data: { id, operations } })
  }

  async function declare(name: string, ...fields: readonly string[]) {
    const fieldIds = await Promise.all(fields.map((field) => fieldId(name, field)))
    return update(name, { kind: 'createIndex', data: { id: crypto.randomUUID(), kind: 'primary', fieldIds } })
  }

  async function relate(from: readonly [string, string, string], to: readonly [string, string, string]) {
    const side = async ([name, field, apiName]: readonly [string, string, string]) => ({
      id: crypto.randomUUID(),
      apiName,
      collectionId: (await collection(name)).id,
      fieldIds: [await fieldId(name, field)],
    })
    const firstField = { ...(await side(from)), isList: false, isConstrained: true }
    const secondField = { ...(await side(to)), isList: true, isConstrained: false }
    const data = { relationName: `${from[0]}_${from[2]}`, firstField, secondField }
    return migrate({ kind: 'createRelationFieldPair', data: { kind: 'single', data } })
  }

  async function status(response: Promise<Response>): Promise<number> {
    return (await response).status
  }

  it('refuses a key that rows share', async () => {
    const refused = await declare('bright', 'makerId')
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('rows that have the key of another row: 1')
    expect(refused.text).toContain('3015')
  })

  it('is read by its key and stably sorted, through an introspection', async () => {
    expect(await declare('bright', 'id')).toMatchObject({ status: 200 })
    expect(await declare('makers', 'makerId')).toMatchObject({ status: 200 })
    expect(await introspected()).toEqual([])
    const { primitiveFields, indexes } = await collection('bright')
    expect(indexes).toMatchObject([{ kind: 'primary' }])
    expect(primitiveFields.find(({ apiName }) => apiName === 'id')).toMatchObject({ isNullable: false })
    expect(await shop.data('/items/bright/2?fields=title')).toEqual({ title: 'Bulb' })
    expect(await status(shop.get('/items/bright/3'))).toBe(404)
    expect(await shop.data('/items/makers/1')).toMatchObject({ makerId: 1 })
  })

  it('has relations with tables and views', async () => {
    expect(await relate(['bright', 'makerId', 'maker'], ['maker', 'id', 'brightLamps'])).toMatchObject({ status: 200 })
    expect(await relate(['lamp', 'makerId', 'sums'], ['makers', 'makerId', 'ofLamps'])).toMatchObject({ status: 200 })
    expect(await introspected()).toEqual([])
    expect(await shop.data('/items/bright?fields=id,maker.name')).toEqual([
      { id: 1, maker: { name: 'Ada' } },
      { id: 2, maker: { name: 'Ada' } },
    ])
    expect(await shop.data('/items/maker?fields=brightLamps.title&filter[brightLamps][_some][watts][_gt]=9')).toEqual([
      { brightLamps: { data: [{ title: 'Arc' }, { title: 'Bulb' }] } },
    ])
    expect(await shop.data('/items/lamp/3?fields=sums.makerId')).toEqual({ sums: { makerId: 2 } })
  })

  it('is written by its key, as far as the database writes it', async () => {
    const made = await shop.post('/items/bright', [{ id: 4, title: 'Disco', makerId: 2, watts: 8 }])
    expect(await made.json()).toEqual({ data: [{ id: 4, title: 'Disco', makerId: 2, watts: 8 }] })
    expect(await status(shop.patch('/items/bright/4', { title: 'Dim' }))).toBe(200)
    expect(await status(shop.patch('/items/bright/4', { maker: [{ _connect: { key: { id: 1 } } }] }))).toBe(200)
    expect(await shop.data('/items/lamp/4')).toEqual({ id: 4, title: 'Dim', makerId: 1, watts: 8 })
    const violated = await shop.patch('/items/bright/4', { watts: 1 })
    expect([violated.status, await violated.text()]).toEqual([422, expect.stringContaining('1005')])
    expect(await status(shop.delete('/items/bright/4'))).toBe(204)
    expect(await status(shop.post('/items/makers', [{ makerId: 5 }]))).toBe(422)
    expect(await status(shop.post('/items/words', [{ title: 'a', loud: 'A' }]))).toBe(422)
    // MariaDB does not return what it updates, so that takes a key.
    const updated = await status(shop.patch('/items/words?filter[title][_eq]=Arc', { title: 'Bow' }))
    expect(updated).toBe(provider === 'mariadb' ? 422 : 200)
  })

  it('is changed in the model alone', async () => {
    const refused = await update('bright', {
      kind: 'createPrimitiveField',
      data: { id: crypto.randomUUID(), dbName: 'more', type: { name: 'int32' }, isNullable: true, isList: false },
    })
    expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('3011')])
    expect((await migrate({ kind: 'deleteCollection', data: { id: (await collection('words')).id } })).text).toContain(
      'the collection words is a view',
    )
    expect(await update('words', { kind: 'changeApiName', data: { apiName: 'titles' } })).toMatchObject({ status: 200 })
    expect(await introspected()).toEqual([])
    expect(await shop.data('/items/titles?fields=title&limit=1')).toHaveLength(1)
  })

  it('loses its key by a deletion, and with its column', async () => {
    const { indexes } = await collection('makers')
    const deletion = { kind: 'deleteIndex', data: { id: indexes[0]?.id } }
    expect((await update('makers', deletion)).text).toContain('3005')
    await servers[provider].run('drop view makers', 'create view makers as select count(*) as lamps from lamp')
    await introspected()
    expect(await collection('makers')).toMatchObject({ indexes: [] })
    expect((await shop.get('/items/lamp?fields=sums.makerId')).status).toBe(422)
    expect(await declare('makers', 'lamps')).toMatchObject({ status: 200 })
    const again = await collection('makers')
    expect(await update('makers', { kind: 'deleteIndex', data: { id: again.indexes[0]?.id } })).toMatchObject({
      status: 200,
    })
    await introspected()
    expect(await introspected()).toEqual([])
    expect(await collection('makers')).toMatchObject({ indexes: [] })
  })

  if (provider === 'postgres')
    it('may be a materialized view', async () => {
      expect(await declare('kept', 'id')).toMatchObject({ status: 200 })
      await servers.postgres.run('create unique index kept_title on kept (title)')
      await introspected()
      const { indexes } = await collection('kept')
      expect(indexes.map(({ kind }) => kind).sort()).toEqual(['primary', 'unique'])
      expect(await shop.data('/items/kept/1')).toMatchObject({ title: 'Arc' })
      expect(await status(shop.patch('/items/kept/1', { title: 'a' }))).toBe(422)
    })
})
