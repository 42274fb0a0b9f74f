/** What check constraints say of a column is told with its field, and by the error of a value that they refuse. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
})

afterAll(() => servers?.close())

const exact = {
  postgres: '',
  mariadb: 'character set utf8mb4 collate utf8mb4_nopad_bin',
} as const

type Entry = { readonly apiName: number; readonly values?: readonly number[]; readonly limits?: object }
type Manifest = {
  readonly strings: readonly string[]
  readonly serviceSchema: { readonly collections: readonly { apiName: number; primitiveFields: readonly Entry[] }[] }
}

describe.each(['postgres', 'mariadb'] as const)('on %s', (provider) => {
  let shop: Workspace
  let source: string

  beforeAll(async () => {
    const { config, run } = servers[provider]
    await run(
      `create table article (
        id int primary key,
        status varchar(20) ${exact[provider]},
        price decimal(8, 2) not null default 1,
        stock int,
        name varchar(50),
        code varchar(50),
        odd int,
        low int,
        high int,
        constraint status_known check (status in ('draft', 'it''s out')),
        constraint price_paid check (price > 0 and price <= 999.50),
        constraint stock_counted check (stock between 0 and 100),
        constraint name_short check (char_length(name) <= 10),
        constraint code_given check (code <> ''),
        constraint odd_only check (odd % 2 = 1),
        constraint in_order check (low < high)
      )`,
    )
    if (provider === 'postgres') {
      await run(
        `create domain word as text constraint word_form check (value ~ '^[a-z]+$')`,
        'alter table article add column word word, add column tags text[] check (cardinality(tags) > 0)',
        'alter table article add constraint late check (id > 5) not valid',
      )
    }
    shop = await world.workspace(`checks_${provider}`, {})
    const made = await shop.post('/sources/data', { apiName: 'shop', provider, config })
    source = ((await made.json()) as { data: { id: string } }).data.id
    expect(await introspected()).not.toEqual([])
  })

  async function introspected(): Promise<unknown> {
    const response = await shop.send('POST', `/schema/introspect/${source}`)
    expect(response.status).toBe(200)
    return ((await response.json()) as { data: { operations: unknown } }).data.operations
  }

  async function told(): Promise<Record<string, object>> {
    const { strings, serviceSchema } = (await (await shop.get('/schema')).json()) as Manifest
    const article = serviceSchema.collections.find(({ apiName }) => strings[apiName] === 'article')
    return Object.fromEntries(
      (article?.primitiveFields ?? []).flatMap(({ apiName, values, limits }) =>
        values || limits ? [[strings[apiName] ?? '', values?.map((value) => strings[value]) ?? limits ?? {}]] : [],
      ),
    )
  }

  it('is in the manifest where its form is known', async () => {
    expect(await told()).toEqual({
      status: ['draft', "it's out"],
      price: { exclusiveMinimum: '0', maximum: '999.5' },
      stock: { minimum: '0', maximum: '100' },
      name: { maxLength: 10 },
      code: { minLength: 1 },
      ...(provider === 'postgres' && { word: { pattern: '^[a-z]+$' } }),
    })
  })

  it('is in the OpenAPI document', async () => {
    const document = (await (await shop.get('/openapi')).json()) as {
      components: { schemas: Record<string, { properties: Record<string, object> }> }
    }
    const shapes = Object.values(document.components.schemas).map(({ properties = {} }) => properties)
    const forms = (stock: object) => ('anyOf' in stock ? (stock.anyOf as object[]) : [stock])
    const limited = shapes.filter(({ stock = {} }) => forms(stock).some((form) => 'minimum' in form))
    // What is created, changed, changed in a list with its key, and answered.
    expect(limited).toHaveLength(4)
    const [created = {}] = limited
    expect(created.stock).toMatchObject({ minimum: 0, maximum: 100 })
    expect(created.price).toMatchObject({ exclusiveMinimum: 0, maximum: 999.5 })
    expect(created.name).toMatchObject({ maxLength: 10 })
    expect(JSON.stringify(document.components.schemas.StatusEnum)).toContain('draft')
  })

  it.each([
    ['status', { status: 'gone' }, "status must be one of draft, it's out"],
    ['price', { price: '0' }, 'price must be above 0 and at most 999.5'],
    ['stock', { stock: 101 }, 'stock must be at least 0 and at most 100'],
    ['name', { name: 'abcdefghijk' }, 'name must be at most 10 characters long'],
    ['code', { code: '' }, 'code must be not empty'],
    ...(provider === 'postgres' ? [['word', { word: 'A' }, 'word must be of the form ^[a-z]+$'] as const] : []),
  ] as const)('refuses a value of %s with its meaning', async (field, value, meaning) => {
    const response = await shop.post('/items/article', [{ id: 9, ...value }])
    const text = await response.text()
    expect(response.status).toBe(422)
    expect(JSON.parse(text)).toMatchObject({
      source: { code: '1005', meta: { fields: [field] }, source: { message: meaning } },
    })
  })

  it('refuses what it cannot describe without a meaning', async () => {
    const response = await shop.post('/items/article', [{ id: 10, odd: 2 }])
    expect(response.status).toBe(422)
    expect(await response.json()).not.toHaveProperty('source.meta')
  })

  it('changes with the database, and is no operation of an introspection', async () => {
    expect(await introspected()).toEqual([])
    await servers[provider].run('alter table article drop constraint stock_counted')
    expect(await introspected()).toEqual([])
    expect(await told()).not.toHaveProperty('stock')
    expect((await shop.post('/items/article', [{ id: 11, stock: 101, status: null }])).status).toBe(200)
  })
})
