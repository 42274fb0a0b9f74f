/** Values that columns of PostgreSQL with types of their own refuse, each with its place and what is wrong. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { readAnswer } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
const close: (() => Promise<void>)[] = []

beforeAll(async () => {
  const postgres = await startPostgres()
  const driver = openPostgres({ connectionString: postgres.url })
  const gateway = await startNeonGateway(postgres.url)
  close.push(gateway.close, () => driver.close(), postgres.close)
  const statements = [
    'create extension hstore',
    'create type place as (street text, number int)',
    'create type parcel as (sender place, stops place[])',
    'create type labelled as (labels hstore)',
    `create table parcels (id int primary key, parcel parcel, places place[], labelled labelled, hundreds numeric(5, -2),
      small numeric(2, 5), relation regclass, kind regtype, role regrole, function regprocedure, procedure regproc)`,
    `insert into parcels (id, labelled, procedure) values (1, row('a=>1'), 'now')`,
  ]
  for (const text of statements) await driver.query({ text, params: [] })
  shop = await world.workspace('native_values', {})
  const source = {
    node: { provider: 'postgres', config: { connectionString: postgres.url } },
    workerd: { provider: 'neon', config: { connectionString: gateway.url } },
  }[world.platform]
  const made = await shop.post('/sources/data', { apiName: 'imported', ...source })
  const { data } = (await made.json()) as { data: { id: string } }
  expect((await shop.post(`/schema/introspect/${data.id}`, undefined)).status).toBe(200)
})

afterAll(async () => {
  for (const end of close) await end()
})

const change = async (body: object) => readAnswer(await shop.patch('/items/parcels/1', body))

describe('a value of a composite type', () => {
  it.each([
    [{ parcel: { sendr: null } }, 'parcel.sendr', 'is unknown; did you mean sender?'],
    [{ parcel: { sender: { town: 'x' } } }, 'parcel.sender.town', 'is unknown; allowed: street, number'],
    [
      { parcel: { stops: [null, { street: 'x', nr: 1 }] } },
      'parcel.stops[1].nr',
      'is unknown; allowed: street, number',
    ],
    [{ places: [{ street: 'x' }, { town: 'x' }] }, 'places[1].town', 'is unknown; allowed: street, number'],
  ])('has no members that its type lacks: %j', async (body, place, reason) => {
    expect(await change(body)).toMatchObject({
      status: 422,
      body: { source: { message: place, source: { message: reason } } },
    })
  })

  it('may lack members, and be the text of the database', async () => {
    const places = [{ street: 'x' }, '(y,2)', null]

    expect(await change({ places, parcel: { sender: {} } })).toMatchObject({
      status: 200,
      body: {
        data: {
          places: [{ street: 'x', number: null }, { street: 'y', number: 2 }, null],
          parcel: { sender: { street: null, number: null }, stops: null },
        },
      },
    })
  })

  it('is read-only where it holds what the database cannot read within it', async () => {
    expect(await shop.data('/items/parcels/1?fields=labelled')).toEqual({ labelled: { labels: { a: '1' } } })
    expect(await change({ labelled: null })).toMatchObject({ status: 422 })
  })
})

describe('a number that its scale would round', () => {
  it.each([
    [{ hundreds: '150' }, 'hundreds', 'must be a multiple of 100'],
    [{ hundreds: 7 }, 'hundreds', 'must be a multiple of 100'],
    [{ hundreds: 10_000_000 }, 'hundreds', 'must have at most 7 digits before and 0 after the decimal point'],
    [{ small: '0.001' }, 'small', 'must begin with 0.000'],
    [{ small: '1' }, 'small', 'must have at most 0 digits before and 5 after the decimal point'],
  ])('is refused: %j', async (body, place, reason) => {
    expect(await change(body)).toMatchObject({
      status: 422,
      body: { source: { message: place, source: { message: reason } } },
    })
  })

  it('is taken where it is exact', async () => {
    const body = { hundreds: '-9999900', small: '0.00099' }

    expect(await change(body)).toMatchObject({ status: 200, body: { data: body } })
  })
})

describe('a name of something in the database', () => {
  it.each([
    { relation: 'gone' },
    { relation: 'nowhere.gone' },
    { relation: '' },
    { relation: 'a.b.c.d' },
    { kind: 'gone' },
    { kind: 'no type' },
    { role: 'gone' },
    { function: 'gone()' },
    { function: 'lower(gone)' },
    { function: 'lower' },
  ])('is refused where there is none: %j', async (body) => {
    const refused = { status: 422, body: { source: { message: 'Value out of range' } } }
    const filter = JSON.stringify(Object.fromEntries(Object.entries(body).map(([name, _eq]) => [name, { _eq }])))

    expect(await change(body)).toMatchObject(refused)
    expect(await readAnswer(await shop.get(`/items/parcels?filter=${encodeURIComponent(filter)}`))).toMatchObject(
      refused,
    )
  })

  it('is written as it is shown', async () => {
    const body = { relation: 'parcels', kind: 'place', role: 'postgres', function: 'lower(text)' }

    expect(await change(body)).toMatchObject({ status: 200, body: { data: body } })
  })

  it('is read-only where it may name several', async () => {
    expect(await shop.data('/items/parcels?fields=procedure&filter[procedure][_eq]=now')).toEqual([
      { procedure: 'now' },
    ])
    expect(await change({ procedure: 'now' })).toMatchObject({ status: 422 })
  })
})
