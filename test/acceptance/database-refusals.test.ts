/** What databases refuse of a write, in the words of docs/errors.md, on the database of each family. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('refusals', {})
})

afterAll(() => servers?.close())

/** A source over tables that others have made. */
async function imported(provider: SqlProvider, apiName: string, config: object): Promise<void> {
  const made = await shop.post('/sources/data', { apiName, provider, config })
  const { data } = (await made.json()) as { data: { id: string } }
  expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
}

async function refusal(answer: Promise<Response>): Promise<unknown> {
  const response = await answer
  const body = (await response.json()) as { source?: object; meta?: object }
  return { status: response.status, ...body.source, ...(body.meta && { meta: body.meta }) }
}

it('on PostgreSQL', async () => {
  const { run, config } = servers.postgres
  await run(
    'create extension if not exists btree_gist',
    'create table booking (id int primary key, room int, during int4range, exclude using gist (room with =, during with &&))',
    'create table judged (id int primary key, code text)',
    `create function judge() returns trigger language plpgsql as $$
      begin raise exception 'no' using errcode = new.code; end $$`,
    'create trigger judge before insert on judged for each row execute function judge()',
    'create table long (id int primary key, word text unique)',
    'create table ruled (id int primary key)',
    'create rule instead as on delete to ruled do instead nothing',
    'insert into ruled values (1)',
  )
  await imported('postgres', 'pg', config)
  await shop.insert('booking', [{ id: 1, room: 1, during: '[1,5)' }])

  const excluded = { status: 422, code: '1002', message: 'Unique constraint failed' }
  expect(await refusal(shop.post('/items/booking', [{ id: 2, room: 1, during: '[4,6)' }]))).toMatchObject(excluded)
  await shop.insert('booking', [{ id: 3, room: 1, during: '[7,9)' }])
  expect(await refusal(shop.patch('/items/booking/3', { during: '[2,9)' }))).toMatchObject(excluded)

  const raised = { status: 422, code: '1005', message: 'Check constraint failed' }
  for (const code of ['P0001', 'P0004', 'ABCDE', 'ZZ001', '99999']) {
    expect(await refusal(shop.post('/items/judged', [{ id: 1, code }])), code).toMatchObject(raised)
  }
  expect(await refusal(shop.post('/items/judged', [{ id: 1, code: 'XX000' }]))).toMatchObject({ status: 500 })

  const word = randomBytes(24_000).toString('base64')
  expect(await refusal(shop.post('/items/long', [{ id: 1, word }]))).toMatchObject({
    status: 422,
    code: '1001',
    message: 'Value out of range',
    meta: { fields: ['word'] },
  })

  expect(await refusal(shop.delete('/items/ruled/1'))).toMatchObject({ status: 422, code: '100' })
})

it('on PostgreSQL that only reads', async () => {
  const { run, config } = servers.postgres
  await run(
    `create role reader superuser login password 'reader'`,
    'alter role reader set default_transaction_read_only = on',
    'create schema standby',
    'create table standby.waiting (id int primary key)',
  )
  const { connectionString } = config as { connectionString: string }
  const reading = connectionString.replace(/postgres:\/\/[^@]+@/, 'postgres://reader:reader@')
  await imported('postgres', 'standby', { connectionString: reading })

  expect(await refusal(shop.post('/items/waiting', [{ id: 1 }]))).toMatchObject(readOnly)
  expect(await shop.data('/items/waiting')).toEqual([])
})

it('on MariaDB, also where it only reads', async () => {
  const { run, config } = servers.mariadb
  const { database } = config as { database: string }
  await run(
    'create table verdicts (id int primary key, code varchar(5))',
    `create trigger judge before insert on verdicts for each row
      if new.code = 'A' then signal sqlstate '45000' set message_text = 'no';
      elseif new.code = 'B' then signal sqlstate '45001' set message_text = 'no', mysql_errno = 31001;
      elseif new.code = 'C' then signal sqlstate 'ZZ001' set message_text = 'no', mysql_errno = 31002; end if`,
    `create user plain@127.0.0.1 identified by 'plain'`,
    `grant select, insert, update, delete on ${database}.* to plain@127.0.0.1`,
  )
  await imported('mariadb', 'maria', { ...config, user: 'plain', password: 'plain' })

  for (const code of ['A', 'B', 'C']) {
    expect(await refusal(shop.post('/items/verdicts', [{ id: 1, code }])), code).toMatchObject({
      status: 422,
      code: '1005',
    })
  }
  await run('set global read_only = 1')
  const refused = await refusal(shop.post('/items/verdicts', [{ id: 1, code: 'D' }]))
  await run('set global read_only = 0')
  expect(refused).toMatchObject(readOnly)
})

const readOnly = { status: 503, code: '5006', message: 'The database takes no writes: it is read-only' }
