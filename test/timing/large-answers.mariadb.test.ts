/**
 * A list that is far too large is refused while it arrives from MySQL and MariaDB, which send their rows one by one: it
 * is never whole in this process.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { withCrossSourceRelations } from '../../src/sources/cross-source.ts'
import { openSqlSource } from '../../src/sources/sql-source.ts'
import { build } from '../support/data/build.ts'
import { allSlips, allTexts, fillTexts, textsModel, tooLarge } from '../support/data/large-texts.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'

const MB = 1e6

let server: TestMariadb
let driver: SqlDriver

beforeAll(async () => {
  server = await startMariadb()
  driver = openMysql({ ...server, max: 2 })
  await fillTexts(driver)
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

it.each(allTexts)('400 values of 1 MB are refused %s, and take a small part of their size', async (_, name, query) => {
  const list = openSqlSource({ driver, dialect: mariadb }).prepareList(build.read(textsModel, name, query))
  const before = process.memoryUsage.rss()

  await expect(list(() => null)).rejects.toMatchObject(tooLarge)

  expect((process.memoryUsage.rss() - before) / MB).toBeLessThan(150)
})

it.each(allSlips)('so they are where the service follows a relation into another source: %s', async (_what, filter) => {
  const open = withCrossSourceRelations(textsModel, () => ({
    source: openSqlSource({ driver, dialect: mariadb }),
    followsRelations: false,
  }))
  const read = build.read(textsModel, 'slips', `fields=text.detail&${filter}&limit=400`)
  const slips = open('main').prepareList(read)
  const before = process.memoryUsage.rss()

  await expect(slips(() => null)).rejects.toMatchObject(tooLarge)

  expect((process.memoryUsage.rss() - before) / MB).toBeLessThan(150)
})
