/** The digest of a catalog of MariaDB, and of what an import finds out by looking at rows. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { mariadbIntrospection } from '../../src/core/sql/mysql/introspect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import type { SourceDatabase } from '../../src/sources/provider.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { followDigests } from './support/digests.ts'
import { announce } from './support/seed.ts'

let server: TestMariadb
/** As the owner of everything. */
let others: SqlDriver
let database: SourceDatabase

beforeAll(async () => {
  announce('digests of MariaDB')
  server = await startMariadb()
  others = openMysql(server)
  const text = (statement: string) => ({ text: statement, params: [] })
  await others.query(text('create database s1'))
  await others.query(text('create database s2'))
  await others.query(text('create table s1.a (id bigint primary key, x int, y tinyint(1))'))
  await others.query(text('create table s1.b (id bigint primary key, x int, y tinyint(1))'))
  await others.query(text('create table s1.kept (id bigint auto_increment primary key, x tinyint(1))'))
  await others.query(text(`create user reader identified by 'reader'`))
  await others.query(text('grant select on s1.* to reader'))
  const driver = openMysql({ ...server, user: 'reader', password: 'reader', database: 's1' })
  database = { driver, dialect: mariadb, catalog: mariadbIntrospection }
})

afterAll(async () => {
  await database?.driver.close()
  await others?.close()
  await server?.close()
})

const kinds = {
  tables: [
    'create table {t} (id bigint primary key, {c} {type})',
    'create table {t} ({c} {type}, {d} {type})',
    'drop table {t}',
    'alter table {t} rename to {u}',
    'create or replace table {t} (id bigint primary key, {c} {type}) with system versioning',
  ],
  columns: [
    'alter table {t} add {c} {type}',
    'alter table {t} add {c} {type} first',
    'alter table {t} drop {c}',
    'alter table {t} rename column {c} to {d}',
    'alter table {t} modify {c} {type}',
    'alter table {t} modify {c} {type} not null',
    'alter table {t} modify {c} varchar({n}) character set utf8mb4 collate utf8mb4_bin',
  ],
  defaults: [
    'alter table {t} alter {c} set default {n}',
    'alter table {t} alter {c} set default (uuid())',
    'alter table {t} alter {c} drop default',
    'alter table {t} modify {c} bigint auto_increment',
  ],
  generated: ['alter table {t} add {c} int as (1)', 'alter table {t} add {c} int as (1) stored'],
  keys: [
    'alter table {t} add primary key ({c})',
    'alter table {t} drop primary key',
    'alter table {t} add constraint {k} unique ({c}, {d})',
    'alter table {t} drop index {k}',
    'alter table {t} rename index {k} to {l}',
  ],
  indexes: ['create index {k} on {t} ({c})', 'create index {k} on {t} ({c}, {d})', 'create index {k} on {t} ({c}(2))'],
  relations: [
    'alter table {t} add {c} bigint, add constraint {k} foreign key ({c}) references {u} (id) on delete {action}',
    'alter table {t} add constraint {k} foreign key ({c}) references {u} (id) on update {action}',
    'alter table {t} drop foreign key {k}',
  ],
  checks: [
    'alter table {t} add constraint {k} check ({c} > {n})',
    'alter table {t} add constraint {k} check (json_valid({c}))',
    `alter table {t} add constraint {k} check ({c} in ('a', 'b{n}'))`,
    'alter table {t} drop constraint {k}',
  ],
  views: [
    'create or replace view s1.v as select * from {t}',
    'create or replace view s1.v as select distinct * from {t}',
    'create or replace view s1.v as select {c}, 1 as more from {t}',
    'drop view s1.v',
  ],
  rows: [
    'insert into s1.kept (x) values ({n})',
    'insert into s1.kept (x) values (1)',
    'delete from s1.kept where x > 1',
    'create index {k} on s1.kept (x)',
    'drop index {k} on s1.kept',
    'insert into {t} (id, y) values ({n}, {n})',
  ],
  rights: [
    'revoke select on s1.* from reader',
    'grant select on s1.* to reader',
    'grant select on {t} to reader',
    'revoke select on {t} from reader',
    'grant select ({c}) on {t} to reader',
    'grant insert on s1.* to reader',
  ],
  // None of these is read by an import, so that they may leave the digest as it is, or not.
  others: ['analyze table {t}', `alter table {t} comment 'n{n}'`, 'optimize table {t}', 'create table s2.a (id int)'],
}

const tables = ['s1.a', 's1.b', 's1.c', 's1.d']
const columns = ['id', 'x', 'y', 'z']

it('is another one wherever an import would read another schema', async () => {
  const names = {
    t: tables,
    u: tables,
    c: columns,
    d: columns,
    k: ['k1', 'k2', 'k3'],
    l: ['k1', 'k2', 'k3'],
    n: ['1', '2', '7'],
    type: [
      'int',
      'bigint',
      'tinyint(1)',
      'text',
      'varchar(9)',
      'decimal(9,2)',
      'json',
      'datetime(3)',
      'year',
      `enum('a', 'b')`,
    ],
    action: ['cascade', 'set null', 'restrict', 'no action'],
  }

  const effective = await followDigests({ database, others, kinds, names })

  const silent = Object.keys(kinds).filter((kind) => !effective.has(kind))
  // Tables come and go at random, and what needs several of them may not come together.
  expect(silent.length).toBeLessThan(5)
})
