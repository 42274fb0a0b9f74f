/**
 * Imported columns of PostgreSQL whose collation takes texts that differ in case or accents for equal: filters, keys,
 * policies and writes are exact all the same. A type that is made to ignore case does.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { operatorHolds } from '../property/support/oracle.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type Person, people } from '../support/service/people.ts'
import { type Item, type Workspace, world } from '../support/service/world.ts'

const columns = {
  plain: 'text',
  cases: 'text collate cases',
  accents: 'varchar(40) collate accents',
  filled: 'char(8) collate cases',
  domained: 'name_of_cases',
} as const
const names = Object.keys(columns)

type ManifestField = { readonly apiName: number; readonly values?: readonly number[] }
type ManifestCollection = { readonly apiName: number; readonly primitiveFields: readonly ManifestField[] }
const texts = ['acme', 'ACME', 'Acme', 'acmé', 'Acmé', 'ac', 'AC', '', 'zebra']
const operands = [...texts, 'aCmE', 'ACMÉ', 'Zebra', 'a']

let postgres: TestPostgres
let driver: SqlDriver
let shop: Workspace
let reader: Person
let writer: Person
const close: (() => Promise<void>)[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  driver = openPostgres({ connectionString: postgres.url })
  const run = (text: string) => driver.query({ text, params: [] })
  await run(`create collation cases (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
  await run(`create collation accents (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`)
  await run('create extension citext')
  await run("create type level as enum ('low', 'high', 'it''s')")
  await run('create table marks (id int primary key, name citext unique, level level not null)')
  await run("insert into marks values (1, 'acme', 'low'), (2, 'Zebra', 'high')")
  await run('create domain name_of_cases as text collate cases')
  const definitions = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
  await run(`create table words (id int primary key, ${definitions.join(', ')})`)
  const values = texts.map((text, index) => `(${index + 1}, ${names.map(() => `'${text}'`).join(', ')})`)
  await run(`insert into words values ${values.join(', ')}`)
  await run('create table tenants (code text collate cases primary key, name text)')
  await run("insert into tenants values ('acme', 'Acme'), ('other', 'Other')")
  await run(`create table orders (id int primary key, code text collate cases references tenants (code),
    note text collate accents)`)
  await run("insert into orders values (1, 'acme', 'x'), (2, 'acme', 'X'), (3, 'other', 'é'), (4, 'other', 'e')")
  const isNode = world.platform === 'node'
  const gateway = await startNeonGateway(postgres.url)
  close.push(gateway.close, () => driver.close(), postgres.close)
  shop = await world.workspace('exact_texts', {})
  const wish = isNode
    ? { provider: 'postgres', config: { connectionString: postgres.url } }
    : { provider: 'neon', config: { connectionString: gateway.url } }
  const made = await shop.post('/sources/data', { apiName: 'imported', ...wish })
  const { data } = (await made.json()) as { data: { id: string } }
  const introspected = await shop.post(`/schema/introspect/${data.id}`, undefined)
  expect(introspected.status).toBe(200)
  expect(await introspected.text()).not.toContain('isLoose')
  const words = { read: { fields: '*', filter: { accents: { _eq: 'acme' } } } }
  const changes = { read: 'all', update: { fields: ['plain'], filter: { cases: { _in: ['ACME'] } } } }
  writer = await people.member(shop, { collections: { words: changes } })
  const orders = { read: { fields: '*', filter: { note: { _eq: 'e' } } }, delete: 'all' }
  reader = await people.member(shop, { collections: { words, orders, tenants: { read: 'all' } } })
})

afterAll(async () => {
  for (const end of close) await end()
})

const idsOf = (items: unknown) => (items as readonly Item[]).map(({ id }) => id)

async function found(name: string, operator: string, operand: unknown): Promise<readonly unknown[]> {
  const at = `filter[${name}][${operator}]`
  const filter = Array.isArray(operand)
    ? operand.map((one, index) => `${at}[${index}]=${encodeURIComponent(one)}`).join('&')
    : `${at}=${encodeURIComponent(String(operand))}`
  return idsOf(await shop.data(`/items/words?fields=id&sort[0][id][direction]=asc&${filter}`))
}

const stringType = { name: 'string' as const, sizes: [], isList: false, isNullable: true }
const expected = (operator: string, operand: unknown) =>
  texts.flatMap((text, index) => (operatorHolds(stringType, operator, operand, text) === true ? [index + 1] : []))

const ofOne = ['_eq', '_neq', '_contains', '_ncontains', '_starts_with', '_nstarts_with', '_ends_with', '_nends_with']

describe.each(names)('a column %s', (name) => {
  it('is compared exactly by every operator', async () => {
    for (const operator of ofOne) {
      for (const operand of operands) {
        expect.soft(await found(name, operator, operand), `${operator} ${operand}`).toEqual(expected(operator, operand))
      }
    }
    for (const operator of ['_in', '_nin']) {
      for (const start of operands.keys()) {
        const operand = operands.slice(start, start + 3)
        expect.soft(await found(name, operator, operand), `${operator} ${operand}`).toEqual(expected(operator, operand))
      }
    }
  })

  it('_icontains ignores case as it does elsewhere, and nothing else', async () => {
    for (const operand of ['CM', 'é', 'e', 'ZEBRA']) {
      expect(await found(name, '_icontains', operand), operand).toEqual(await found('plain', '_icontains', operand))
    }
  })

  it('has no text before, after and equal at once', async () => {
    for (const text of texts) {
      const around = await Promise.all(['_lt', '_eq', '_gt'].map((operator) => found(name, operator, text)))
      expect(around.flat().sort(), text).toEqual(texts.map((_, place) => place + 1))
    }
  })
})

it('a column of citext is compared as the database has it', async () => {
  const marks = async (filter: string) => idsOf(await shop.data(`/items/marks?fields=id&${filter}`))

  expect(await marks('filter[name][_eq]=ACME')).toEqual([1])
  expect(await marks('filter[name][_neq]=ACME')).toEqual([2])
  expect(await marks('filter[name][_in][0]=zebra&filter[name][_in][1]=Acme')).toEqual([1, 2])
  expect(await marks('filter[name][_gt]=ACMF')).toEqual([2])
  expect(await marks('filter[name][_contains]=CM')).toEqual([])
  expect(await marks('filter[name][_icontains]=CM')).toEqual([1])
})

it('tells the values of an enum wherever it tells of its field', async () => {
  const values = ['low', 'high', "it's"]
  const json = async (path: string) => (await (await shop.get(path)).json()) as Record<string, unknown>
  const manifest = (await json('/schema')) as {
    strings: string[]
    serviceSchema: { collections: ManifestCollection[] }
  }
  const marks = manifest.serviceSchema.collections.find(({ apiName }) => manifest.strings[apiName] === 'marks')
  const level = marks?.primitiveFields.find(({ apiName }) => manifest.strings[apiName] === 'level')
  const document = (await json('/openapi')) as { components: { schemas: Record<string, unknown> } }

  expect(level?.values?.map((value) => manifest.strings[value])).toEqual(values)
  expect(document.components.schemas.LevelEnum).toEqual({ type: 'string', enum: values })
  const refused = await shop.patch('/items/marks/1', { level: 'none' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain('Value out of range')
})

it('names, changes and deletes an item by its exact key', async () => {
  expect((await shop.get('/items/tenants/acme')).status).toBe(200)
  expect((await shop.get('/items/tenants/ACME')).status).toBe(404)
  expect((await shop.patch('/items/tenants/ACME', { name: 'changed' })).status).toBe(404)
  expect((await shop.delete('/items/tenants/ACME')).status).toBe(404)
  const bulk = await shop.patch('/items/orders?fields=id&filter[note][_eq]=X', { note: 'X' })
  expect(await bulk.json()).toEqual({ data: [{ id: 2 }] })
  const connect = (code: string) =>
    shop.post('/items/orders', [{ id: 9, codeTenants: { _connect: { key: { code } } } }])
  const unknown = await connect('OTHER')
  expect(unknown.status).toBe(422)
  expect(await unknown.text()).toContain('Foreign key constraint failed')
  expect((await connect('other')).status).toBe(200)
  expect((await shop.delete('/items/orders/9')).ok).toBe(true)
})

it('holds conditions beyond a relation to the bytes', async () => {
  const beyond = (code: string) => shop.data(`/items/orders?fields=id&filter[codeTenants][code][_eq]=${code}`)
  expect(idsOf(await beyond('acme'))).toEqual([1, 2])
  expect(idsOf(await beyond('ACME'))).toEqual([])
})

it('shows and changes by a policy what it exactly says', async () => {
  expect(idsOf(((await (await reader.get('/items/words?fields=id')).json()) as { data: unknown }).data)).toEqual([1])
  expect(idsOf(((await (await reader.get('/items/orders?fields=id')).json()) as { data: unknown }).data)).toEqual([4])
  expect((await reader.get('/items/words/2')).status).toBe(404)
  const change = async (path: string) => (await writer.patch(`/items/words${path}`, { plain: 'changed' })).status
  expect(await change('/1')).toBe(403)
  expect(await change('/3')).toBe(403)
  expect(await change('?filter[cases][_in][0]=ACME&filter[cases][_in][1]=Acme')).toBe(403)
  expect(await change('?filter[cases][_in][0]=ACME')).toBe(200)
  const rows = await driver.query({ text: "select id from words where plain = 'changed'", params: [] })
  expect(rows).toEqual([['2']])
  await driver.query({ text: "update words set plain = 'ACME' where id = 2", params: [] })
})
