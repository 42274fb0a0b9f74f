/**
 * Real input for an introspection: a harbour of awkward tables in three namespaces, a music shop in the manner of the
 * sample databases, and films from the demo's data package, imported by introspection alone and served with their
 * relations.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { harbour as mariadbHarbour } from '../support/data/harbour-mariadb.ts'
import { harbour as postgresHarbour } from '../support/data/harbour-postgres.ts'
import { mariadbKiosk, postgresKiosk } from '../support/data/kiosk.ts'
import { films, movies } from '../support/data/movies.ts'
import { songs } from '../support/data/songs.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type Workspace, world } from '../support/service/world.ts'

type Place = { readonly provider: string; readonly config: object }

const close: (() => Promise<void>)[] = []

afterAll(async () => {
  for (const end of close) await end()
})

async function inPostgres(): Promise<Place> {
  const server = await startPostgres()
  close.push(server.close)
  const driver = openPostgres({ connectionString: server.url })
  const texts = [...postgresHarbour, ...songs(postgres.quote), ...movies(), ...postgresKiosk]
  await driver.batch(texts.map((text) => ({ text, params: [] })))
  await driver.close()
  if (world.platform === 'node') return { provider: 'postgres', config: { connectionString: server.url } }
  const gateway = await startNeonGateway(server.url)
  close.unshift(gateway.close)
  return { provider: 'neon', config: { connectionString: gateway.url } }
}

async function inMariadb(): Promise<Place> {
  const server = await startMariadb()
  close.push(server.close)
  const driver = openMysql({ ...server, max: 1 })
  const texts = [...mariadbHarbour, 'use shop', ...songs(mariadb.quote), ...movies(), ...mariadbKiosk]
  for (const text of texts) await driver.query({ text, params: [] })
  await driver.close()
  const { host, port, user, password } = server
  // Without a database all that the user may see are namespaces.
  if (world.platform === 'node') return { provider: 'mariadb', config: { host, port, user, password } }
  const gateway = await startPlanetscaleGateway({ host, port, user, password })
  close.unshift(gateway.close)
  return { provider: 'planetscale', config: gateway.config }
}

describe.each([
  ['PostgreSQL', inPostgres],
  ['MariaDB', inMariadb],
])('in %s', (title, start) => {
  let shop: Workspace
  let sourceId: string

  beforeAll(async () => {
    const place = await start()
    shop = await world.workspace(`imported_${title.toLowerCase()}`, {})
    const made = await shop.post('/sources/data', { apiName: 'sample', ...place })
    const { data } = (await made.json()) as { data: { id: string } }
    sourceId = data.id
  })

  async function introspect(): Promise<readonly { readonly kind: string }[]> {
    const response = await shop.send('POST', `/schema/introspect/${sourceId}`)
    const { data } = (await response.json()) as { data: { operations: { kind: string }[] } }
    return data.operations
  }

  it('is imported at once, and then there is nothing more to import', async () => {
    const operations = await introspect()

    expect(operations.filter(({ kind }) => kind === 'createCollection').length).toBeGreaterThan(40)
    expect(await introspect()).toEqual([])
  })

  it('serves every collection with all of its fields and relations', async () => {
    type Listed = {
      apiName: string
      primitiveFields: { data: object[] }
      relationFields: { data: { apiName: string }[] }
    }
    const listed = (await shop.data(
      '/items/ServiceCollection?fields=apiName,primitiveFields.apiName,relationFields.apiName&limit=200',
    )) as Listed[]

    const faults: string[] = []
    for (const { apiName, primitiveFields, relationFields } of listed) {
      if (primitiveFields.data.length === 0) continue
      const fields = ['*', ...relationFields.data.map((relation) => `${relation.apiName}.*`)]
      const response = await shop.get(`/items/${apiName}?fields=${fields.join()}&limit=5`)
      if (response.status !== 200) faults.push(`${apiName}: ${await response.text()}`)
    }

    expect(listed.length).toBeGreaterThan(40)
    expect(faults).toEqual([])
  })

  it('answers questions about the data of the demo', async () => {
    const search = [
      'fields=title,rating,director.name',
      'filter[director][name][_eq]=Steven Spielberg',
      'sort[0][rating][direction]=asc&sort[1][title][direction]=asc',
      'limit=1&meta=totalCount',
    ].join('&')

    const response = await shop.get(`/items/film?${search}`)

    const own = films.filter(({ Director }) => Director === 'Steven Spielberg')
    const lowest = Math.min(...own.flatMap((film) => film['IMDB Rating'] ?? []))
    expect(await response.json()).toEqual({
      data: [{ title: expect.any(String), rating: lowest.toFixed(1), director: { name: 'Steven Spielberg' } }],
      meta: { totalCount: own.length },
    })
  })

  it('has texts of a fixed length without what fills them', async () => {
    const search =
      'fields=title,countryCodeKioskCountry.*&filter[countryCode][_eq]=DE&filter[countryCodeKioskCountry][name][_ends_with]=land'

    const papers = await shop.data(`/items/kioskPaper?${search}`)
    const written = await shop.post('/items/kioskPaper?fields=countryCode,countryCodeKioskCountry.name', [
      { id: 3, title: 'Late', countryCodeKioskCountry: { _connect: { key: { code: 'NL' } } } },
    ])

    expect(papers).toEqual([{ title: 'Abendblatt', countryCodeKioskCountry: { code: 'DE', name: 'Deutschland' } }])
    expect(await shop.data('/items/kioskCountry/NL')).toEqual({ code: 'NL', name: 'Nederland' })
    expect(await written.json()).toEqual({
      data: [{ countryCode: 'NL', countryCodeKioskCountry: { name: 'Nederland' } }],
    })
  })

  it('writes and finds the values of an enum, and no others', async () => {
    const papers = [
      { id: 4, title: 'Four', countryCode: 'NL', frequency: 'weekly' },
      { id: 5, title: 'Five', countryCode: 'NL' },
    ]
    const nested = { kioskPaper: [{ _create: { data: [{ id: 6, title: 'Six', frequency: 'weekly' }] } }] }

    const written = await shop.post('/items/kioskPaper?fields=frequency', papers)
    const added = await shop.patch('/items/kioskCountry/NL', nested)
    const changed = await shop.patch('/items/kioskPaper/5?fields=title,frequency', { frequency: 'weekly' })
    const refused = await shop.patch('/items/kioskPaper/5', { frequency: 'never' })

    expect(await written.json()).toEqual({ data: [{ frequency: 'weekly' }, { frequency: 'daily' }] })
    expect(added.status).toBe(200)
    expect(await changed.json()).toEqual({ data: { title: 'Five', frequency: 'weekly' } })
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ source: { message: 'Value out of range', code: '1001' } })
    for (const filter of ['[_eq]=weekly', '[_in][]=weekly', '[_starts_with]=week']) {
      const found = await shop.data(`/items/kioskPaper?fields=id&filter[frequency]${filter}`)
      expect(found).toEqual([{ id: 4 }, { id: 5 }, { id: 6 }])
    }
  })

  it('takes what a trigger refuses for a fault of the request', async () => {
    const refused = await shop.delete('/items/kioskPaper/1')

    expect(refused.status).toBe(422)
    expect(await refused.json()).toEqual({
      message: 'Query failed',
      source: { message: 'Check constraint failed', code: '1005' },
    })
  })

  it('refuses to write a view that the database does not update, and says why', async () => {
    const written = await shop.post('/items/kioskShelf', [{ id: 9, title: 'Never' }])
    const deleted = await shop.delete('/items/kioskShelf?filter[id][_eq]=1')

    const refusal = {
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: 'kioskShelf', source: { message: 'is read-only' } },
    }
    expect([written.status, deleted.status]).toEqual([422, 422])
    expect(await written.json()).toMatchObject(refusal)
    expect(await deleted.json()).toMatchObject(refusal)
  })
})
