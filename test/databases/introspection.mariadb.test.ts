/** Introspection of a real MariaDB: whatever was made or changed behind our back is what the model then says. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MigrationContext } from '../../src/core/migration/apply.ts'
import type { SchemaOperation } from '../../src/core/migration/diff/diff.ts'
import { buildModel, type Model, type ModelRecords } from '../../src/core/model/model.ts'
import { readCheck } from '../../src/core/sql/checks/expression.ts'
import { compileChange } from '../../src/core/sql/ddl/compile-change.ts'
import { SqlFault } from '../../src/core/sql/fault.ts'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { mariadbIntrospection } from '../../src/core/sql/mysql/introspect.ts'
import { compile } from '../../src/core/sql/statement.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { id, workspace } from '../core/migration/build.ts'
import { harbour, harbourSchemas } from '../support/data/harbour-mariadb.ts'
import {
  type Database,
  fieldsOf,
  idsOf,
  indexesOf,
  introspect,
  kindsOf,
  readItems,
  relationsOf,
  storableTypes,
  unreadable,
} from '../support/data/imported.ts'
import { anyThrows, applyThrows, type RandomOptions, shapeOf, type Throw } from '../support/data/random-operations.ts'
import { songs } from '../support/data/songs.ts'
import { casesOr } from '../support/run/cases.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'

let server: TestMariadb
/** Connected to no database, so that it sees all of them. */
let driver: SqlDriver
let database: Database
/** Connected to the database `shop`. */
let shop: Database

beforeAll(async () => {
  server = await startMariadb()
  const { host, port, user, password } = server
  driver = openMysql({ host, port, user, password })
  database = { driver, dialect: mariadb, catalog: mariadbIntrospection }
  shop = { ...database, driver: openMysql(server) }
})

afterAll(async () => {
  await driver?.close()
  await shop?.driver.close()
  await server?.close()
})

const crm = id('crm')
/** A workspace whose source nobody has looked into. */
const untouched: ModelRecords = { ...workspace, namespaces: workspace.namespaces.filter((one) => one.sourceId !== crm) }

async function run(on: SqlDriver, ...statements: readonly string[]): Promise<void> {
  for (const text of statements) await on.query({ text, params: [] })
}

function importAll(from: Database, records: ModelRecords = untouched) {
  return introspect(from, records, { sourceId: crm, scope: { kind: 'all' } })
}

describe('a schema that grew for years', () => {
  let records: ModelRecords
  let model: Model

  beforeAll(async () => {
    await run(driver, ...harbour)
    records = (await importAll(database)).records
    model = buildModel(1, records)
  })

  afterAll(async () => {
    await run(driver, 'set foreign_key_checks = 0')
    await driver.batch(
      ['set foreign_key_checks = 0', ...harbourSchemas.map((name) => `drop database ${mariadb.quote(name)}`)].map(
        (text) => ({ text, params: [] }),
      ),
    )
  })

  it('comes with its databases, tables and views, and a second time changes nothing', async () => {
    expect(records.namespaces.filter(({ sourceId }) => sourceId === crm).map(({ dbName }) => dbName)).toEqual([
      'Cargo & Größen',
      'crew',
      'port',
      'shop',
    ])
    expect(records.collections).toHaveLength(35)
    expect(records.constraints).toHaveLength(29)
    expect(records.collections.filter(({ isReadOnly }) => isReadOnly).map(({ apiName }) => apiName)).toEqual([
      'Uebersicht',
      'fleet',
    ])
    expect((await importAll(database, records)).operations).toEqual([])
  })

  it('has the types, nulls and defaults of its columns', () => {
    expect(fieldsOf(model, 'person')).toEqual({
      id: 'uint64 counted',
      fullName: 'string(100)',
      email: 'string(120) default',
      rank: 'string default',
      duties: 'string?',
      born: 'date?',
      cityId: 'int32?',
      mentorId: 'uint64?',
      nameLength: 'int32? read-only',
      nameTwice: 'int32? read-only',
      settings: 'json default',
      createdAt: 'dateTimeWithTimezone default',
      changedAt: 'dateTime?',
    })
    expect(fieldsOf(model, 'harbour')).toEqual({
      id: 'int32 counted',
      name: 'string',
      place: 'geometry?',
      area: 'geometry?',
      depth: 'decimal(12,3)?',
      address: 'string?',
      seenAt: 'dateTime?',
      opens: 'time?',
      founded: 'int16?',
      code: 'uint32?',
    })
    expect(fieldsOf(model, 'ship')).toMatchObject({ id: 'uuid', bits: 'bytes?', isNew: 'boolean?' })
    expect(fieldsOf(model, 'wide')).toEqual({ id: 'int8', a: 'uint16?', b: 'uint32?', c: 'uint8?', d: 'string(3)?' })
  })

  it('has the indexes of whole columns', () => {
    expect(indexesOf(model, 'person')).toEqual(['normal cityId,born', 'normal fullName', 'primary id'])
    expect(indexesOf(model, 'customs')).toEqual(['primary id', 'unique itemId'])
  })

  it('has its foreign keys as relations, of several columns, to itself, and to one where they are unique', () => {
    expect(relationsOf(model, 'person')).toEqual([
      'Container[] Container',
      'city? city',
      'contract[] contract',
      'mentor? person',
      'passport? passport',
      'personSkill[] personSkill',
      'person[] person',
      'shift[] shift',
      'skill[] skill',
      'voyage[] voyage',
    ])
    expect(relationsOf(model, 'item')).toEqual(['customs? customs', 'itemPhoto? itemPhoto', 'load? load'])
    const actions = Object.fromEntries(
      records.constraints.map(({ dbName, onDelete, onUpdate }) => [dbName, [onDelete, onUpdate]]),
    )
    expect(actions).toMatchObject({
      item_load: ['cascade', 'restrict'],
      payment_ibfk_1: ['cascade', 'cascade'],
      person_city: ['setNull', 'restrict'],
      city_country: ['restrict', 'cascade'],
    })
  })

  it('is served with its relations', async () => {
    expect(await unreadable(database, records)).toEqual([])
    const search =
      'fields=fullName,rank,duties,mentor.fullName,city.countryCodeCountry.name,personSkill.skill.Name&sort[0][id][direction]=asc'
    expect(await readItems(database, model, 'person', search)).toEqual([
      {
        fullName: 'Ada',
        rank: 'captain',
        duties: 'deck,engine',
        mentor: null,
        city: { countryCodeCountry: { name: 'Deutschland' } },
        personSkill: { data: [{ skill: { Name: 'knots' } }] },
      },
      {
        fullName: 'Bo',
        rank: 'mate',
        duties: null,
        mentor: { fullName: 'Ada' },
        city: { countryCodeCountry: { name: 'Nederland' } },
        personSkill: { data: [{ skill: { Name: 'knots' } }] },
      },
    ])
    expect(await readItems(database, model, 'harbour', 'fields=place,address,founded,code')).toEqual([
      { place: { type: 'Point', coordinates: [1, 2] }, address: '::1', founded: 1905, code: 42 },
    ])
    expect(await readItems(database, model, 'fleet', 'fields=name,bits,isNew,home&filter[home][_null]=false')).toEqual([
      { name: 'Emma', bits: 'Cg==', isNew: true, home: 'Elbe' },
    ])
  })
})

describe('a sample database in capitals', () => {
  it('keeps its names, and is served with its relations', async () => {
    await run(shop.driver, 'drop database shop', 'create database shop')
    await run(shop.driver, 'use shop')
    const statements = songs(mariadb.quote).map((text) => ({ text, params: [] }))
    await shop.driver.batch([{ text: 'use shop', params: [] }, ...statements])

    const { records } = await importAll(shop)

    const model = buildModel(1, records)
    expect(records.collections).toHaveLength(11)
    expect(records.constraints).toHaveLength(11)
    expect(relationsOf(model, 'Employee')).toEqual([
      'Customer[] Customer',
      'Employee[] Employee',
      'ReportsToEmployee? Employee',
    ])
    expect(await unreadable(shop, records)).toEqual([])
    const search = 'fields=Total,Customer.FirstName,InvoiceLine.Track.Album.Artist.Name'
    expect(await readItems(shop, model, 'Invoice', search)).toMatchObject([
      { Total: '1.98', Customer: { FirstName: 'Bo' } },
    ])
    expect((await importAll(shop, records)).operations).toEqual([])
  })
})

describe('a change behind our back', () => {
  let records: ModelRecords

  beforeEach(async () => {
    await run(
      driver,
      'drop database if exists shop',
      'drop database if exists more',
      'create database shop',
      'create table shop.people (id int primary key, email varchar(80) not null, name varchar(20), constraint people_email unique (email))',
      `create table shop.articles (id bigint auto_increment primary key, title varchar(80) not null,
        author_id int not null, price decimal(9, 2) default 1,
        constraint author foreign key (author_id) references shop.people (id) on delete no action on update no action)`,
      'create index articles_title on shop.articles (title)',
    )
    records = (await importAll(database)).records
  })

  it.each<[string, string, readonly string[]]>([
    ['a table', 'create table shop.x (id int)', ['createCollection']],
    ['a view', 'create view shop.x as select id from shop.people', ['createCollection']],
    ['a table gone', 'drop table shop.articles', ['deleteRelationFieldPair', 'deleteCollection']],
    ['a database', 'create database more', ['createNamespace']],
    [
      'a database gone',
      'drop database shop',
      ['deleteRelationFieldPair', 'deleteCollection', 'deleteCollection', 'deleteNamespace'],
    ],
    ['a column', 'alter table shop.people add age int', ['updateCollection', 'createPrimitiveField']],
    ['a column gone', 'alter table shop.people drop name', ['updateCollection', 'deletePrimitiveField']],
    [
      'a type',
      'alter table shop.people modify name varchar(30)',
      ['updateCollection', 'updatePrimitiveField', 'changeType'],
    ],
    [
      'a null',
      'alter table shop.people modify name varchar(20) not null',
      ['updateCollection', 'updatePrimitiveField', 'changeIsNullable'],
    ],
    [
      'a default',
      `alter table shop.people alter name set default 'x'`,
      ['updateCollection', 'updatePrimitiveField', 'changeDefaultValue'],
    ],
    [
      'a number that counts no more',
      'alter table shop.articles modify id bigint',
      ['updateCollection', 'updatePrimitiveField', 'changeDefaultValue'],
    ],
    [
      'a generated column',
      'alter table shop.people add shout varchar(80) as (upper(email)) virtual',
      ['updateCollection', 'createPrimitiveField'],
    ],
    ['an index', 'create unique index name_email on shop.people (name, email)', ['updateCollection', 'createIndex']],
    ['an index that is none of ours', 'create unique index beginning on shop.people (name(5))', []],
    ['an index gone', 'drop index articles_title on shop.articles', ['updateCollection', 'deleteIndex']],
    [
      'a foreign key',
      'alter table shop.people add boss_id int, add constraint boss foreign key (boss_id) references shop.people (id)',
      ['updateCollection', 'createPrimitiveField', 'createRelationFieldPair'],
    ],
    [
      'a foreign key gone',
      'alter table shop.articles drop foreign key author, drop index author',
      ['deleteRelationFieldPair'],
    ],
    [
      'the actions of a foreign key',
      `alter table shop.articles drop foreign key author;
alter table shop.articles add constraint author foreign key (author_id) references shop.people (id) on delete cascade on update restrict`,
      ['updateRelationFieldPair', 'changeReferentialActions'],
    ],
    ['nothing', `alter table shop.people comment 'hello'`, []],
  ])('is found: %s', async (_name, statements, kinds) => {
    await run(driver, ...statements.split(';\n'))

    const found = await importAll(database, records)

    expect(kindsOf(found.operations)).toEqual(kinds)
    expect((await importAll(database, found.records)).operations).toEqual([])
    const fresh = (await importAll(database)).records
    expect(shapeOf(found.records, crm)).toEqual(shapeOf(fresh, crm))
  })

  it('leaves the ids of everything else', async () => {
    await run(
      driver,
      'alter table shop.articles drop price, modify title varchar(100) not null, add subtitle text',
      'create table shop.more (id int primary key)',
    )

    const after = (await importAll(database, records)).records

    const [before, now] = [idsOf(records), idsOf(after)]
    const lost = [...before].filter(([name, one]) => now.get(name) !== one).map(([name]) => name)
    expect(lost.map((name) => name.replace(/^.*\./, ''))).toEqual(['price'])
  })
})

describe('migrations', () => {
  const names = ['shop', 'service_shop_x', 'service_shop_y']
  const own = { sourceId: crm, scope: { kind: 'schemas', names } } as const
  const start: ModelRecords = {
    ...untouched,
    namespaces: [...untouched.namespaces, { id: id('shop'), sourceId: crm, dbName: 'shop', isSystem: false }],
  }
  const context: MigrationContext = { dialectOf: () => mariadb, dataNamespaceOf: () => id('shop'), workspace: 'shop' }
  const types = storableTypes({ dialect: mariadb })
  const options: RandomOptions = { sourceId: crm, context, namespaceNames: names.slice(1), typesOf: () => types }

  /** Statement by statement, as the database has it; after a refusal one introspection makes both agree again. */
  async function migrate(records: ModelRecords, throws: readonly Throw[]): Promise<ModelRecords> {
    const applied = applyThrows(records, throws, options)
    const statements = applied.changes.flatMap(({ change }) => compileChange(change, mariadb))
    try {
      for (const statement of statements) await driver.batch([compile(statement, mariadb)])
      return applied.records
    } catch (error) {
      if (!(error instanceof SqlFault)) throw error
      return (await introspect(database, records, own)).records
    }
  }

  /** InnoDB keeps the index that it made for a foreign key when the key goes, and then it is an index like any other. */
  function otherThanIndexes(operation: SchemaOperation): readonly unknown[] {
    if (operation.kind !== 'updateCollection' || !('operations' in operation.data)) return [operation]
    return (operation.data.operations as readonly { kind: string; data: { kind?: string } }[]).filter(
      ({ kind, data }) => !(kind === 'createIndex' && data.kind === 'normal'),
    )
  }

  it('leave a database in which an introspection finds the very model', async () => {
    const anyMigrations = fc.array(anyThrows({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 5 })

    await fc.assert(
      fc.asyncProperty(anyMigrations, async (migrations) => {
        await driver.batch(
          [
            'set foreign_key_checks = 0',
            ...names.map((name) => `drop database if exists ${name}`),
            'set foreign_key_checks = 1',
            'create database shop',
          ].map((text) => ({ text, params: [] })),
        )
        let records = start
        for (const throws of migrations) {
          const found = await introspect(database, await migrate(records, throws), own)
          expect(found.operations.flatMap(otherThanIndexes)).toEqual([])
          records = found.records
        }

        const fresh = await introspect(database, untouched, own)

        expect(shapeOf(fresh.records, crm)).toEqual(shapeOf(records, crm))
      }),
      { numRuns: casesOr(20), endOnFailure: true },
    )
  })
})

it('takes a tinyint(1) for a truth value unless rows, default or checks tell of other numbers', async () => {
  const columns = [
    'id int primary key',
    'plain tinyint(1)',
    'switched tinyint(1) not null default 1',
    'checked tinyint(1) check (checked in (0, 1))',
    'agreed tinyint(1) check (agreed < 2)',
    'stars tinyint(1) not null default 5',
    'points tinyint(1) check (points between 1 and 5)',
    'signed tinyint(1) check (signed >= -1)',
    'grade tinyint(1) check (grade > 1)',
    'late tinyint(1)',
    'listed tinyint(1)',
    'found tinyint(1)',
    'total bigint unsigned not null default 7',
    'share decimal(5, 2) default 2.5',
    'key (listed)',
  ]
  await run(
    driver,
    'create database ranks',
    `create table ranks.ranks (${columns.join()})`,
    'insert into ranks.ranks (id, found) values (0, 9)',
    'insert into ranks.ranks (id) select seq from ranks.seq_1_to_150000',
    'insert into ranks.ranks (id, late, listed) values (200000, 9, 9)',
  )

  const rows = await driver.query(mariadbIntrospection.statement({ kind: 'schemas', names: ['ranks'] }))
  const inspection = mariadbIntrospection.inspect?.(rows)
  const inspected = inspection && (await driver.query(inspection))
  const [table] = mariadbIntrospection.parse(rows, inspected, readCheck).tables
  await run(driver, 'drop database ranks')

  expect(Object.fromEntries((table?.columns ?? []).map(({ dbName, type }) => [dbName, type.name]))).toEqual({
    id: 'int32',
    plain: 'boolean',
    switched: 'boolean',
    checked: 'boolean',
    agreed: 'boolean',
    stars: 'int8',
    points: 'int8',
    signed: 'int8',
    grade: 'int8',
    // No import reads all rows of a large table.
    late: 'boolean',
    listed: 'int8',
    found: 'int8',
    total: 'uint64',
    share: 'decimal',
  })
})

it('has the values of an enum as they are, whatever is in them', async () => {
  const values = ['plain', "it's", 'back\\slash', '\\n', 'two\nlines', '\\', 'a,b']
  const list = values.map((value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`).join(', ')
  await run(driver, `create table shop.chosen (id int primary key, choice enum(${list}))`)

  const { records } = await importAll(shop)
  const chosen = records.primitiveFields.find(({ dbName }) => dbName === 'choice')
  await run(driver, 'drop table shop.chosen')

  expect(chosen?.native?.values).toEqual(values)
})

it('leaves out a view that selects what is gone, and tells of it', async () => {
  await run(
    driver,
    'create database attic',
    'create table attic.boxes (id int primary key)',
    'create table attic.gone (id int primary key)',
    'create view attic.stale as select id from attic.gone',
    'drop table attic.gone',
  )

  const rows = await driver.query(mariadbIntrospection.statement({ kind: 'schemas', names: ['attic'] }))
  const { tables, skipped } = mariadbIntrospection.parse(rows)
  await run(driver, 'drop database attic')

  expect(tables.map(({ dbName }) => dbName)).toEqual(['boxes'])
  expect(skipped).toEqual([{ table: 'attic.stale', reason: 'the database cannot open the view' }])
})

it('leaves out what the database user may not read, and tells of it', async () => {
  await run(
    driver,
    'create database desk',
    'create table desk.letters (id int primary key, subject text, secret int, unique (secret, id))',
    'create table desk.wages (id int)',
    'create table desk.hidden (id int)',
    `create user clerk identified by 'clerk'`,
    'grant select (id, subject), insert on desk.letters to clerk',
    'grant insert on desk.wages to clerk',
  )
  const clerk = openMysql({ host: server.host, port: server.port, user: 'clerk', password: 'clerk', database: 'desk' })

  const rows = await clerk.query(mariadbIntrospection.statement({ kind: 'all' }))
  const { tables, skipped } = mariadbIntrospection.parse(rows)
  await clerk.close()
  await run(driver, 'drop database desk', 'drop user clerk')

  expect(tables).toMatchObject([
    {
      dbName: 'letters',
      columns: [{ dbName: 'id' }, { dbName: 'subject' }],
      indexes: [{ kind: 'primary', columns: ['id'] }],
    },
  ])
  expect(skipped).toEqual([
    { table: 'desk.letters', reason: 'column secret: the database user may not read it' },
    { table: 'desk.wages', reason: 'the database user may not read it' },
  ])
})
