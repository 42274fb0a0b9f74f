/**
 * A list that is far too large is refused by the embedded database before it is in memory, which that never gives back: its
 * rows are gathered in the process of its engine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/node/embedded/postgres.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { openSqlSource } from '../../src/sources/sql-source.ts'
import { build } from '../support/data/build.ts'
import { engineOf, memoryOf } from '../support/servers/embedded-client.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'

const MB = 1e6

const model = build.model({ shelves: { id: 'int32' }, texts: { id: 'int32', shelfId: 'int32', detail: 'json?' } }, [
  'texts.shelf(shelfId) -> shelves.texts',
])

let directory: string
let embedded: EmbeddedPostgres
let driver: SqlDriver

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'embedded-'))
  await prepareEmbedded(directory)
  embedded = await openEmbeddedPostgres({ directory })
  driver = openPostgres({ stream: embedded.connect, max: 4 })
  const texts = ['create table shelves (id int primary key)', 'insert into shelves values (1)']
  const filled = `create table texts as select n as id, 1 as "shelfId", to_jsonb(repeat('x', 1000000)) as detail
    from generate_series(1, 400) n`
  await driver.batch([...texts, filled].map((text) => ({ text, params: [] })))
})

afterAll(async () => {
  await driver?.close()
  await embedded?.close()
  await rm(directory, { recursive: true })
})

it.each([
  ['as a list', 'texts', 'fields=detail&limit=400'],
  ['as a list of one item', 'shelves', 'fields=texts.detail&deep[texts][_limit]=400'],
])('400 values of 1 MB are refused %s, and take a small part of their size', async (_how, collection, query) => {
  const list = openSqlSource({ driver, dialect: postgres }).prepareList(build.read(model, collection, query))
  const before = await memory()

  await expect(list(() => null)).rejects.toMatchObject({ cause: { code: '1006' } })

  expect(((await memory()) - before) / MB).toBeLessThan(200)
})

/** Bytes that the engine and this process have. */
async function memory(): Promise<number> {
  return process.memoryUsage.rss() + (await memoryOf((await engineOf(directory)) ?? 0))
}
