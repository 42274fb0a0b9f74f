/**
 * A list that is far too large is refused while it arrives from MySQL and MariaDB, which send their rows one by one: the
 * database stops, and the next request is answered. What it takes of memory is measured in test/timing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseSqlAddress } from '../../src/core/sql/address.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import { mariadb, mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPlanetscale } from '../../src/platform/drivers/planetscale.ts'
import type { Fetch } from '../../src/platform/fetch.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { withCrossSourceRelations } from '../../src/sources/cross-source.ts'
import { openSqlSource } from '../../src/sources/sql-source.ts'
import { build } from '../support/data/build.ts'
import { openItems } from '../support/data/items.ts'
import { allSlips, allTexts, fillTexts, textsModel, tooLarge, VALUES } from '../support/data/large-texts.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { type PlanetscaleGateway, startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'

const MB = 1e6

let server: TestMariadb
let own: SqlDriver

const statement = (text: string) => ({ text, params: [] })

beforeAll(async () => {
  server = await startMariadb()
  own = openMysql(server)
  await fillTexts(own)
})

afterAll(async () => {
  await own?.close()
  await server?.close()
})

const running = async () => {
  const [[count] = []] = await own.query(
    statement(`select count(*) from information_schema.processlist where command <> 'Sleep' and info like '%detail%'
      and id <> connection_id()`),
  )
  return Number(count)
}
const unchanged = async () => {
  const [[count] = []] = await own.query(statement('select count(*) from texts where note is null'))
  return Number(count)
}

describe('MariaDB over TCP', () => {
  let driver: SqlDriver
  beforeAll(() => {
    driver = openMysql({ ...server, max: 2 })
  })
  afterAll(() => driver?.close())

  it.each(allTexts)('400 values of 1 MB are refused %s', async (_how, collection, query) => {
    const list = openSqlSource({ driver, dialect: mariadb }).prepareList(build.read(textsModel, collection, query))

    await expect(list(() => null)).rejects.toMatchObject(tooLarge)

    await expect.poll(running).toBe(0)
  })

  it.each(allSlips)(
    'is refused where the service follows a relation into another source: %s',
    async (_what, filter) => {
      const open = withCrossSourceRelations(textsModel, () => ({
        source: openSqlSource({ driver, dialect: mariadb }),
        followsRelations: false,
      }))
      const slips = (fields: string) =>
        open('main').prepareList(build.read(textsModel, 'slips', `fields=${fields}&${filter}&limit=400`))(() => null)

      await expect(slips('text.detail')).rejects.toMatchObject(tooLarge)

      expect((await slips('text.id')).data).toContain('"text":{"id":')
    },
  )

  it('is refused to a write, which then changes nothing', async () => {
    const items = openItems(textsModel, driver, mariadb)
    const among = 'filter[id][_lte]=20&fields=detail'

    await expect(items.updateMany('texts', { note: 'changed' }, among)).rejects.toMatchObject(tooLarge)
    await expect(items.deleteMany('texts', among)).rejects.toMatchObject(tooLarge)
    const created = [{ id: 1000, shelfId: 1, detail: 'new' }]
    await expect(items.create('texts', created, 'fields=shelf.texts.detail')).rejects.toMatchObject(tooLarge)

    expect(await unchanged()).toBe(VALUES)
  })

  it('less is answered, also after as many refusals as there are connections', async () => {
    for (let count = 0; count < 4; count += 1) await expect(sizeOf(driver, mariadb, 20)).rejects.toMatchObject(tooLarge)

    expect(await sizeOf(driver, mariadb, 15)).toBe(15 * (1_000_000 + '{"detail":""},'.length) + 1)
  })
})

describe('PlanetScale over HTTP', () => {
  let gateway: PlanetscaleGateway
  let driver: SqlDriver
  let received = 0

  const counting: Fetch = async (url, init) => {
    const response = await fetch(url, init)
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received += chunk.length
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body?.pipeThrough(counter) ?? null, response)
  }

  beforeAll(async () => {
    gateway = await startPlanetscaleGateway(server)
    driver = openPlanetscale({ address: parseSqlAddress('planetscale', gateway.config), wayOut: counting })
  })
  afterAll(() => gateway?.close())

  it('60 values of 1 MB are refused, and not read to their end', async () => {
    received = 0

    await expect(sizeOf(driver, mariadb, 60)).rejects.toMatchObject(tooLarge)

    expect(received / MB).toBeLessThan(30)
  })

  it('is refused to a write, which then changes nothing', async () => {
    const items = openItems(textsModel, driver, mariadbConversation)
    const among = 'filter[id][_lte]=40&fields=detail'

    await expect(items.updateMany('texts', { note: 'changed' }, among)).rejects.toMatchObject(tooLarge)
    await expect(items.deleteMany('texts', among)).rejects.toMatchObject(tooLarge)

    expect(await unchanged()).toBe(VALUES)
  })

  it('less is answered', async () => {
    expect(await sizeOf(driver, mariadb, 15)).toBe(15 * (1_000_000 + '{"detail":""},'.length) + 1)
  })
})

/** Characters of a list of so many values. */
async function sizeOf(driver: SqlDriver, dialect: Dialect, limit: number): Promise<number> {
  const list = openSqlSource({ driver, dialect }).prepareList(
    build.read(textsModel, 'texts', `fields=detail&limit=${limit}`),
  )
  return (await list(() => null)).data.length
}
