/** What becomes of the rules of a column's own type when its field gets another type (docs/contract.md#operations). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Operation, type Workspace, world } from '../support/service/world.ts'

const text = { name: 'string', params: { length: 'unlimited' } }
const short = { name: 'string', params: { length: 'fixed', value: 40 } }
const wide = { name: 'int64' }

type Column = readonly [definition: string, value: string, to: object]
type Case = {
  readonly before: readonly string[]
  /** By another type a rule would be lost, or a value be shown differently. */
  readonly ruled: readonly Column[]
  readonly free: readonly Column[]
  readonly unchanged: readonly Column[]
}

const cases: Readonly<Record<'postgres' | 'mariadb', Case>> = {
  postgres: {
    before: [
      'create extension citext',
      'create extension hstore',
      `create type mood as enum ('sad', 'ok')`,
      'create domain even as int4 not null default 2 check (value % 2 = 0)',
      'create domain grave as mood',
      'create type pair as (a int, b text)',
      `create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    ],
    ruled: [
      ['even', '4', wide],
      ['even', '4', text],
      ['even[]', `'{2}'`, wide],
      ['grave', `'ok'`, text],
      ['mood', `'ok'`, text],
      ['mood', `'ok'`, short],
      ['mood[]', `'{ok}'`, text],
      ['citext', `'Ab'`, short],
      ['inet', `'10.0.0.1'`, short],
      ['hstore', `'a=>1'`, text],
      ['pair', `'(1,x)'`, text],
      ['text collate loose', `'Ab'`, short],
      ['text collate "C"', `'Ab'`, short],
    ],
    free: [
      ['char(5)', `'ab'`, short],
      ['int4 check (v > 0)', '3', wide],
      [`varchar(5) check (v in ('a', 'b'))`, `'a'`, short],
      ['uuid', `'00000000-0000-0000-0000-000000000001'`, text],
      ['int4[]', `'{3}'`, wide],
    ],
    unchanged: [
      ['citext', `'Ab'`, text],
      ['mood', `'ok'`, { name: 'string', params: { length: 'fixed', value: 3 } }],
    ],
  },
  mariadb: {
    before: [],
    ruled: [
      [`enum('sad', 'ok')`, `'ok'`, short],
      [`set('x', 'y')`, `'x,y'`, short],
      ['inet6', `'::1'`, short],
      ['inet4', `'1.1.1.1'`, short],
      ['int(7) zerofill', '42', text],
    ],
    free: [
      ['int(7) zerofill', '42', wide],
      ['char(5)', `'ab'`, short],
      ['int check (v > 0)', '3', wide],
      [`varchar(5) check (v in ('a', 'b'))`, `'a'`, short],
      ['varchar(5) collate utf8mb4_bin', `'ab'`, text],
      ['bit(1)', `b'1'`, text],
      ['year', '2024', { name: 'int32' }],
    ],
    unchanged: [
      [`enum('sad', 'ok')`, `'ok'`, text],
      ['inet6', `'::1'`, text],
    ],
  },
}

type Manifest = {
  readonly strings: readonly string[]
  readonly serviceSchema: { readonly collections: readonly { readonly primitiveFields: readonly Told[] }[] }
}
type Told = { readonly apiName: number; readonly values?: readonly number[]; readonly limits?: object }

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('types', {})
})

afterAll(() => servers?.close())

describe.each(['postgres', 'mariadb'] as const)('of %s', (provider) => {
  const { before, ruled, free, unchanged } = cases[provider]
  const tables = [...ruled, ...free, ...unchanged].map((column, place) => ({ name: `${provider}${place}`, column }))
  const ruledTables = tables.slice(0, ruled.length)
  const freeTables = tables.slice(ruled.length, ruled.length + free.length)
  const unchangedTables = tables.slice(ruled.length + free.length)
  let fields: readonly { id: string; apiName: string; collection: { id: string; apiName: string } }[]

  beforeAll(async () => {
    const { run, config } = servers[provider]
    await run(...before)
    for (const { name, column } of tables) {
      const [definition, value] = column
      await run(
        `create table ${name} (id int primary key, v ${definition})`,
        `insert into ${name} values (1, ${value})`,
      )
    }
    const attached = await shop.post('/sources/data', { apiName: provider, provider, config })
    const { data } = (await attached.json()) as { data: { id: string } }
    await shop.send('POST', `/schema/introspect/${data.id}`)
    fields = (await shop.data(
      '/items/ServicePrimitiveField?fields=id,apiName,collection.id,collection.apiName&limit=-1',
    )) as typeof fields
  })

  function change(table: string, type: object): Operation {
    const field = fields.find(({ apiName, collection }) => apiName === 'v' && collection.apiName === table)
    const operations = [{ kind: 'changeType', data: { type } }]
    return {
      kind: 'updateCollection',
      data: {
        id: field?.collection.id,
        operations: [{ kind: 'updatePrimitiveField', data: { id: field?.id, operations } }],
      },
    }
  }

  const limitsOf = async (table: string) => {
    const { strings, serviceSchema } = (await (await shop.get(`/schema?collections=${table}`)).json()) as Manifest
    const field = serviceSchema.collections[0]?.primitiveFields.find(({ apiName }) => strings[apiName] === 'v')
    return { values: field?.values?.map((value) => strings[value]), limits: field?.limits }
  }

  it.each(ruledTables)('is not lost: $column.0', async ({ name, column }) => {
    const [before] = (await shop.data(`/items/${name}`)) as unknown[]

    const refused = await shop.migrate(change(name, column[2]))

    expect(refused.status).toBe(500)
    expect(await refused.json()).toEqual({
      message: expect.stringContaining('Failed to execute the migration: '),
      source: {
        message: 'operations[0]',
        source: {
          message:
            'The column has a type or a collation of its own, whose rules would go: change it in the database, or add a field',
          code: '3009',
          meta: { field: `${name}.v` },
        },
      },
    })
    expect(await shop.data(`/items/${name}`)).toEqual([before])
  })

  it.each(freeTables)('is none, or stays: $column.0', async ({ name, column }) => {
    const [before] = (await shop.data(`/items/${name}`)) as { v: unknown }[]

    const changed = await shop.migrate(change(name, column[2]))

    const [after] = (await shop.data(`/items/${name}`)) as { v: unknown }[]
    expect(changed.status).toBe(200)
    expect(String(after?.v)).toBe(String(before?.v))
  })

  it.each(unchangedTables)('is known as before where the type is the same: $column.0', async ({ name, column }) => {
    const before = await limitsOf(name)

    const changed = await shop.migrate(change(name, column[2]))

    expect(changed.status).toBe(200)
    expect(await limitsOf(name)).toEqual(before)
  })

  it('is refused by a constraint that the new type has no operators for', async () => {
    const name = freeTables.find(({ column }) => column[0].includes('check (v > 0)'))?.name ?? ''

    const refused = await shop.migrate(change(name, text))

    expect(await refused.json()).toMatchObject({ source: { source: { code: '3010' } } })
  })

  it('is told as before where a constraint stays', async () => {
    const name = freeTables.find(({ column }) => column[0].includes('check (v > 0)'))?.name ?? ''

    expect(await limitsOf(name)).toMatchObject({ limits: { exclusiveMinimum: '0' } })
  })
})
