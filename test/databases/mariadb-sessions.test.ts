/** docs/decisions/037: what one account, or one workspace, has running on MariaDB leaves connections to the others. */
import { type Connection, createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'

let server: TestMariadb
let driver: SqlDriver
let holder: Connection

beforeAll(async () => {
  server = await startMariadb()
  driver = openMysql(server)
  const { host, port, user, password, database } = server
  holder = await createConnection({ host, port, user, password: String(password), database })
  await holder.query('create table held (id int primary key)')
  await holder.query('insert into held values (1)')
})

afterAll(async () => {
  await holder?.end()
  await driver?.close()
  await server?.close()
})

it('answers another account of a workspace while one has many statements that take long', async () => {
  await holder.query('lock tables held write')
  const slow = Array.from({ length: 14 }, () =>
    driver.query(statement('select cast(id as char) from held'), { share: 'a', account: 'many' }),
  )

  const theirs = driver.query(statement('select cast(1 as char)'), { share: 'a', account: 'other' })
  const first = await Promise.race([theirs, ...slow])
  await holder.query('unlock tables')

  expect(first).toEqual([['1']])
  expect(await Promise.all(slow)).toEqual(slow.map(() => [['1']]))
})

it('answers another workspace while several accounts of one have many statements that take long', async () => {
  await holder.query('lock tables held write')
  const slow = ['one', 'two', 'three'].flatMap((account) =>
    Array.from({ length: 10 }, () =>
      driver.query(statement('select cast(id as char) from held'), { share: 'a', account }),
    ),
  )

  const theirs = driver.query(statement('select cast(1 as char)'), { share: 'b', account: 'other' })
  const first = await Promise.race([theirs, ...slow])
  await holder.query('unlock tables')

  expect(first).toEqual([['1']])
  expect(await Promise.all(slow)).toEqual(slow.map(() => [['1']]))
})

it('gives the place of an account back when its statement fails', async () => {
  const failing = Array.from({ length: 30 }, () =>
    driver.query(statement('select nothing from held'), { share: 'a', account: 'many' }),
  )
  await Promise.allSettled(failing)

  expect(await driver.query(statement('select cast(1 as char)'), { share: 'a', account: 'many' })).toEqual([['1']])
})

function statement(text: string) {
  return { text, params: [] }
}
