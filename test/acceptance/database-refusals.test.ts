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

/** A source over tables that others have made; returns what imports it again. */
async function imported(provider: SqlProvider, apiName: string, config: object): Promise<() => Promise<void>> {
  const made = await shop.post('/sources/data', { apiName, provider, config })
  const { data } = (await made.json()) as { data: { id: string } }
  const again = async () => expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
  await again()
  return again
}

async function refusal(answer: Promise<Response>): Promise<unknown> {
  const response = await answer
  const body = (await response.json()) as { source?: object; meta?: object }
  return { status: response.status, ...body.source, ...(body.meta && { meta: body.meta }) }
}

/** More columns than one row has room for. */
const broad = Array.from({ length: 1_100 }, (_, at) => `n${at}`)

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
    'create table searched (id int primary key, text tsvector)',
    `create table broad (id int primary key, ${broad.map((name) => `${name} bigint`)})`,
  )
  await imported('postgres', 'pg', config)
  await shop.insert('booking', [{ id: 1, room: 1, during: '[1,5)' }])

  const excluded = { status: 422, code: '1002', message: 'Unique constraint failed' }
  expect(await refusal(shop.post('/items/booking', [{ id: 2, room: 1, during: '[4,6)' }]))).toMatchObject(excluded)
  await shop.insert('booking', [{ id: 3, room: 1, during: '[7,9)' }])
  expect(await refusal(shop.patch('/items/booking/3', { during: '[2,9)' }))).toMatchObject(excluded)

  const raised = { status: 422, code: '1005', message: 'Check constraint failed' }
  const states = ['P0001', 'P0004', 'ABCDE', 'ZZ001', '99999', '23000', '0A000', '2F003', '42501']
  // Those of connections and servers: the database is there, so that others go on reading, and a key is free again.
  const ofServers = ['08000', '08006', '28P01', '3D000', '53000', '53300', '54000', '57000', '57014', '57P01', '58000']
  for (const code of [...states, ...ofServers]) {
    const headers = { 'Idempotency-Key': `raised-${code}` }
    const insert = () => shop.send('POST', '/items/judged', { body: [{ id: 1, code }], headers })
    expect(await refusal(insert()), code).toMatchObject(raised)
    expect(await refusal(insert()), code).toMatchObject(raised)
  }
  for (let times = 0; times < 6; times += 1) await shop.post('/items/judged', [{ id: 1, code: '08000' }])
  expect(await shop.data('/items/judged')).toEqual([])
  expect(await refusal(shop.post('/items/judged', [{ id: 1, code: 'XX000' }]))).toMatchObject({ status: 500 })

  const word = randomBytes(24_000).toString('base64')
  expect(await refusal(shop.post('/items/long', [{ id: 1, word }]))).toMatchObject({
    status: 422,
    code: '1001',
    message: 'Value out of range',
    meta: { fields: ['word'] },
  })

  expect(await refusal(shop.post('/items/searched', [{ id: 1, text: `a ${'b'.repeat(3_000)}` }]))).toMatchObject({
    status: 422,
    code: '1001',
    meta: { fields: ['text'] },
  })

  const row = Object.fromEntries(broad.map((name) => [name, '1']))
  const tooLong = { status: 422, code: '1001', message: 'Value out of range' }
  expect(await refusal(shop.post('/items/broad', [{ id: 1, ...row }]))).toMatchObject(tooLong)
  await shop.insert('broad', [{ id: 1 }])
  expect(await refusal(shop.patch('/items/broad/1', row))).toMatchObject(tooLong)

  expect(await refusal(shop.delete('/items/ruled/1'))).toMatchObject({ status: 422, code: '100' })
})

it('on PostgreSQL, of rows that its own security keeps from the account', async () => {
  const { run, config } = servers.postgres
  await run(
    `create role tenant login password 'tenant'`,
    'create schema secured',
    'grant usage on schema secured to tenant',
    'create table secured.rows (id int primary key, owner text)',
    'create table secured.shown (id int primary key)',
    'grant select, insert, update on secured.rows to tenant',
    'grant select on secured.shown to tenant',
    'alter table secured.rows enable row level security',
    `create policy own on secured.rows using (owner = 'a')`,
  )
  const { connectionString } = config as { connectionString: string }
  const own = connectionString.replace(/postgres:\/\/[^@]+@/, 'postgres://tenant:tenant@')
  await imported('postgres', 'secured', { connectionString: own })
  await shop.insert('rows', [{ id: 1, owner: 'a' }])

  const kept = { status: 422, code: '1005', message: 'Check constraint failed' }
  expect(await refusal(shop.post('/items/rows', [{ id: 2, owner: 'b' }]))).toMatchObject(kept)
  expect(await refusal(shop.patch('/items/rows/1', { owner: 'b' }))).toMatchObject(kept)
  expect(await refusal(shop.post('/items/shown', [{ id: 1 }]))).toMatchObject({ status: 422, code: '2002' })
})

it('nothing on PostgreSQL of rows that a trigger keeps from being deleted', async () => {
  const { run, config } = servers.postgres
  await run(
    'create schema kept',
    'create table kept.kept (id int primary key, is_deleted boolean not null default false)',
    `create function kept.keep() returns trigger language plpgsql as $$
      begin update kept.kept set is_deleted = true where id = old.id; return null; end $$`,
    'create trigger keep before delete on kept.kept for each row execute function kept.keep()',
    'insert into kept.kept values (1), (2), (3), (4)',
  )
  await imported('postgres', 'kept', config)
  const operation = (id: number) => ({ kind: 'delete', collection: 'kept', key: id })

  expect((await shop.delete('/items/kept/1')).status).toBe(204)
  expect((await shop.delete('/items/kept/9')).status).toBe(404)
  expect((await shop.delete('/items/kept?filter[id][_eq]=2')).status).toBe(204)
  expect((await shop.post('/items', { operations: [operation(3), operation(9)] })).status).toBe(404)
  const batch = await shop.post('/items', { operations: [operation(4)] })

  expect(await batch.json()).toEqual({ data: [null] })
  expect(await shop.data('/items/kept?filter[isDeleted][_eq]=true&fields=id')).toEqual([
    { id: 1 },
    { id: 2 },
    { id: 4 },
  ])
})

it('nothing on PostgreSQL of what a trigger changes afterwards, and answers what it left', async () => {
  const { run, config } = servers.postgres
  await run('create schema late', 'create table late.totals (id int primary key, total int not null default 0)')
  const again = await imported('postgres', 'late', config)
  await run(
    `create function late.add() returns trigger language plpgsql as $$
      begin update late.totals set total = total + 1 where id = new.id; return null; end $$`,
    'create trigger added after insert on late.totals for each row execute function late.add()',
    'create trigger changed after update on late.totals for each row when (pg_trigger_depth() = 0) execute function late.add()',
  )
  await again()
  const written = async (answer: Promise<Response>) =>
    ((await (await answer).json()) as { data: readonly { total: number; _etag: string }[] }).data

  const [made] = await written(shop.post('/items/totals?fields=id,total,_etag', [{ id: 1 }]))
  const [several] = await written(shop.patch('/items/totals?fields=total&filter[id][_eq]=1', { total: 5 }))
  const change = { kind: 'update', collection: 'totals', key: 1, data: { total: 7 }, fields: 'total' }
  const batch = await written(shop.post('/items', { operations: [change] }))
  const [tagged] = await written(shop.patch('/items/totals?fields=_etag', [{ id: 1, total: 8 }]))
  const matched = await shop.send('PATCH', '/items/totals/1?fields=total', {
    body: { total: 9 },
    headers: { 'If-Match': `"${tagged?._etag}"` },
  })

  expect(made).toMatchObject({ total: 1 })
  expect(several).toEqual({ total: 6 })
  expect(batch).toEqual([{ total: 8 }])
  expect(await matched.json()).toEqual({ data: { total: 10 } })
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

it('on MariaDB, whose tables are read where their engine has no transactions', async () => {
  const { run, config } = servers.mariadb
  const { database } = config as { database: string }
  await run(
    'create table loose (id int primary key) engine = myisam',
    'create table heap (id int primary key) engine = memory',
    'create view loose_view as select id from loose',
    'create table firm (id int primary key)',
    'insert into loose values (1)',
  )
  const made = await shop.post('/sources/data', { apiName: 'engines', provider: 'mariadb', config })
  const { data } = (await made.json()) as { data: { id: string } }
  const import_ = await shop.post(`/schema/introspect/${data.id}`, {
    tables: { include: ['loose', 'heap', 'loose_view', 'firm'] },
  })
  const { skipped } = ((await import_.json()) as { data: { skipped: { table: string; reason: string }[] } }).data
  const readOnlyOf = (table: string, engine: string) => {
    return {
      table: expect.stringMatching(`^(${database}\\.)?${table}$`),
      reason: `is read-only: the engine ${engine} has no transactions`,
    }
  }

  expect(skipped).toEqual([
    readOnlyOf('heap', 'MEMORY'),
    readOnlyOf('loose', 'MyISAM'),
    readOnlyOf('loose_view', 'MyISAM'),
  ])
  for (const name of ['loose', 'heap', 'looseView']) {
    expect(await refusal(shop.post(`/items/${name}`, [{ id: 2 }, { id: 2 }])), name).toMatchObject({ status: 422 })
  }
  expect(await shop.data('/items/loose')).toEqual([{ id: 1 }])
  expect((await shop.post('/items/firm', [{ id: 1 }])).status).toBe(200)
})

it('on MariaDB, also where it only reads', async () => {
  const { run, config } = servers.mariadb
  const { database } = config as { database: string }
  await run(
    'create table verdicts (id int primary key, code varchar(5))',
    `create trigger judge before insert on verdicts for each row
      if new.code = 'A' then signal sqlstate '45000' set message_text = 'no';
      elseif new.code = 'B' then signal sqlstate '45001' set message_text = 'no', mysql_errno = 31001;
      elseif new.code = 'C' then signal sqlstate 'ZZ001' set message_text = 'no', mysql_errno = 31002;
      elseif new.code = 'D' then signal sqlstate '22012' set message_text = 'no', mysql_errno = 31003; end if`,
    'create table doubled (id int primary key, n bigint, twice bigint as (n * 2) stored)',
    `create table measures (id int primary key, a float(7,3) check (a < 100), b double(10,2), c float(5,1) unsigned,
      d float)`,
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
  const outOfRange = { status: 422, code: '1001' }
  expect(await refusal(shop.post('/items/verdicts', [{ id: 1, code: 'D' }]))).toMatchObject(outOfRange)
  expect(await refusal(shop.post('/items/doubled', [{ id: 1, n: '9223372036854775807' }]))).toMatchObject(outOfRange)
  const exact = { id: 1, a: 1.235, b: 12345678.91, c: 0.5, d: 1.23456 }
  await shop.insert('measures', [exact])
  for (const [name, value, scale] of [
    ['a', 1.23456, 3],
    ['a', 1e-7, 3],
    ['b', 1.239, 2],
    ['c', 1.25, 1],
  ] as const) {
    const told = await refusal(shop.patch('/items/measures/1', { [name]: value }))
    const source = { message: `must have at most ${scale} digits after the decimal point` }
    expect(told, `${name}: ${value}`).toMatchObject({ status: 422, source })
  }
  expect(await refusal(shop.patch('/items/measures/1', { a: 100 }))).toMatchObject({
    code: '1005',
    meta: { fields: ['a'] },
  })
  expect(await shop.data('/items/measures/1?fields=id,a,b,c,d')).toEqual(exact)
  await shop.patch('/items/measures/1', exact)
  await run('set global read_only = 1')
  const refused = await refusal(shop.post('/items/verdicts', [{ id: 1, code: 'E' }]))
  await run('set global read_only = 0')
  expect(refused).toMatchObject(readOnly)
})

it('on MariaDB, of values that are too long for a row', async () => {
  const { run, config } = servers.mariadb
  const columns = Array.from({ length: 15 }, (_, index) => `c${index}`)
  await run(
    'set innodb_strict_mode = 0',
    `create table wide (id int primary key, ${columns.map((name) => `${name} text`)}) row_format = compact charset latin1`,
  )
  await imported('mariadb', 'long', config)
  const wide = Object.fromEntries(columns.map((name) => [name, 'x'.repeat(2_000)]))

  expect(await refusal(shop.post('/items/wide', [{ id: 1, ...wide }]))).toMatchObject({ status: 422, code: '1001' })
})

const readOnly = { status: 503, code: '5006', message: 'The database takes no writes: it is read-only' }
