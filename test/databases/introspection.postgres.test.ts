/** Introspection of a real Postgres: whatever was made or changed behind our back is what the model then says. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildModel, type Model, type ModelRecords } from '../../src/core/model/model.ts'
import { compileChange } from '../../src/core/sql/ddl/compile-change.ts'
import { SqlFault } from '../../src/core/sql/fault.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { postgresIntrospection } from '../../src/core/sql/postgres/introspect.ts'
import { compile } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { askCatalog } from '../../src/sources/catalog.ts'
import { createSqlProviders } from '../../src/sources/sql-provider.ts'
import { context, id, workspace } from '../core/migration/build.ts'
import { harbour, harbourSchemas } from '../support/data/harbour-postgres.ts'
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
import { startPostgres } from '../support/servers/postgres.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let driver: SqlDriver
let database: Database

beforeAll(async () => {
  server = await startPostgres()
  driver = openPostgres({ connectionString: server.url })
  database = { driver, dialect: postgres, catalog: postgresIntrospection }
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

const crm = id('crm')
/** A workspace whose source nobody has looked into. */
const untouched: ModelRecords = { ...workspace, namespaces: workspace.namespaces.filter((one) => one.sourceId !== crm) }

async function run(...statements: readonly string[]): Promise<void> {
  await driver.batch(statements.map((text) => ({ text, params: [] })))
}

function importAll(records: ModelRecords = untouched) {
  return introspect(database, records, { sourceId: crm, scope: { kind: 'all' } })
}

it('reads the catalog without the compiler of the server, which would take seconds for it, and leaves it on', async () => {
  const jit = { text: `select current_setting('jit')`, params: [] }

  expect(await askCatalog(database, jit)).toEqual([['off']])
  expect(await driver.query(jit)).toEqual([['on']])
})

it('asks about the catalog behind these settings alone', async () => {
  const settings = postgresIntrospection.settings.map(({ text }) => text)
  const texts: (readonly string[])[] = []
  const noting: SqlDriver = {
    ...driver,
    query(statement, context) {
      texts.push([statement.text])
      return driver.query(statement, context)
    },
    batch(statements, context) {
      texts.push(statements.map(({ text }) => text))
      return driver.batch(statements, context)
    },
  }
  const databases = { open: () => noting, refusal: () => undefined }
  const [provider] = createSqlProviders({ databases, clock: { now: () => Date.now() }, timeLimit: 30_000 })
  const opened = await provider?.open({ config: { connectionString: server.url } } as never, {} as never)

  await opened?.introspect?.()
  await opened?.look?.()
  await opened?.digest?.('all')

  const ofCatalog = texts.filter((sent) => sent.some((text) => /\bpg_namespace\b/.test(text)))
  expect(ofCatalog).toHaveLength(3)
  for (const sent of ofCatalog) {
    const place = sent.findIndex((text) => /\bpg_namespace\b/.test(text))
    expect(sent.slice(place - settings.length, place)).toEqual(settings)
  }
})

describe('a schema that grew for years', () => {
  let records: ModelRecords
  let model: Model

  beforeAll(async () => {
    await run(...harbour)
    records = (await importAll()).records
    model = buildModel(1, records)
  })

  afterAll(async () => {
    await run(...harbourSchemas.map((name) => `drop schema ${postgres.quote(name)} cascade`))
  })

  it('comes with its namespaces, tables and views, and a second time changes nothing', async () => {
    expect(records.namespaces.filter(({ sourceId }) => sourceId === crm).map(({ dbName }) => dbName)).toEqual([
      'Cargo & Größen',
      'crew',
      'port',
      'public',
    ])
    expect(records.collections).toHaveLength(35)
    expect(records.constraints).toHaveLength(30)
    expect(records.collections.filter(({ isReadOnly }) => isReadOnly).map(({ apiName }) => apiName)).toEqual([
      'Uebersicht',
      'busy',
      'fleet',
    ])
    expect((await importAll(records)).operations).toEqual([])
  })

  it('has the types, nulls and defaults of its columns', () => {
    expect(fieldsOf(model, 'person')).toEqual({
      id: 'int64 read-only counted',
      fullName: 'string',
      email: 'string(120)',
      privateEmail: 'string(120)?',
      rank: 'string(7) default',
      ranksHeld: 'string(7)[]?',
      born: 'date?',
      cityId: 'int32?',
      mentorId: 'int64?',
      nameLength: 'int32? read-only',
      languages: 'string[] default',
      settings: 'json default',
      createdAt: 'dateTimeWithTimezone default',
    })
    expect(fieldsOf(model, 'Container')).toEqual({
      ContainerId: 'uuid default',
      SizeId: 'int32?',
      KindID: 'int32?',
      ownerId: 'int64?',
      weightKg: 'decimal(3,-2)?',
      hash: 'bytes?',
      tags: 'string[]?',
      matrix: 'int32[]?',
      flags: 'boolean[]?',
      stamps: 'dateTimeWithTimezone[]?',
    })
    expect(fieldsOf(model, 'harbour')).toMatchObject({
      id: 'int32 counted',
      place: 'json?',
      labels: 'string[]? default',
      depth: 'decimal(12,3)?',
      address: 'string?',
      closes: 'string?',
    })
    expect(fieldsOf(model, 'captains')).toEqual({
      id: 'int64?',
      fullName: 'string?',
      rank: 'string(7)?',
    })
  })

  it('has valid API names for whatever its things are called', () => {
    expect(Object.keys(fieldsOf(model, 'order'))).toEqual([
      'select',
      'from',
      'gruppa',
      'u65e5u672c',
      'n2nd',
      'proto',
      'constructor',
    ])
    expect(Object.keys(fieldsOf(model, 'Groesse'))).toEqual(['GroessenNr', 'BreiteM', 'Hoehe'])
    expect(Object.keys(fieldsOf(model, 'aB'))).toEqual(['xY', 'its', 'semiColon', 'dotTed', 'spaces'])
  })

  it('has the indexes of plain columns, and takes nothing for unique that is so under a condition', () => {
    expect(indexesOf(model, 'person')).toEqual(['normal cityId,born', 'normal languages', 'primary id'])
    expect(indexesOf(model, 'customs')).toEqual(['primary id', 'unique itemId'])
    expect(indexesOf(model, 'busy')).toEqual(['unique harbourId'])
    expect(indexesOf(model, 'shift')).toEqual(['primary id'])
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
    expect(relationsOf(model, 'ship')).toEqual([
      'flagCodeCountry? country',
      'home? harbour',
      'ship? ship',
      'sister? ship',
      'visit[] visit',
      'voyage[] voyage',
    ])
    expect(relationsOf(model, 'item')).toEqual(['customs? customs', 'itemPhoto? itemPhoto', 'load? load'])
    const actions = Object.fromEntries(
      records.constraints.map(({ dbName, onDelete, onUpdate }) => [dbName, [onDelete, onUpdate]]),
    )
    expect(actions).toMatchObject({
      item_load: ['cascade', 'noAction'],
      payment_person_id_started_fkey: ['cascade', 'cascade'],
      person_skill_skill_id_fkey: ['restrict', 'noAction'],
      person_city_id_fkey: ['setNull', 'noAction'],
      customs_item_id_fkey: ['setDefault', 'noAction'],
    })
  })

  it('is served with its relations', async () => {
    expect(await unreadable(database, records)).toEqual([])
    expect(
      await readItems(
        database,
        model,
        'person',
        'fields=fullName,rank,mentor.fullName,city.countryCodeCountry.name,personSkill.skill.Name&sort[0][id][direction]=asc',
      ),
    ).toEqual([
      {
        fullName: 'Ada',
        rank: 'captain',
        mentor: null,
        city: { countryCodeCountry: { name: 'Deutschland' } },
        personSkill: { data: [{ skill: { Name: 'knots' } }] },
      },
      {
        fullName: 'Bo',
        rank: 'mate',
        mentor: { fullName: 'Ada' },
        city: { countryCodeCountry: { name: 'Nederland' } },
        personSkill: { data: [{ skill: { Name: 'knots' } }] },
      },
    ])
    expect(await readItems(database, model, 'item', 'fields=title,load.container.Kind.parent.title')).toMatchObject([
      { title: 'rice' },
    ])
    expect(await readItems(database, model, 'log', 'fields=line,voyage.ship.name&sort[0][at][direction]=asc')).toEqual([
      { line: 'old', voyage: { ship: { name: 'Emma' } } },
      { line: 'new', voyage: { ship: { name: 'Emma' } } },
    ])
  })

  it.each([
    ['person', 'filter[rank][_eq]=captain', 1],
    ['person', 'filter[rank][_in][0]=captain&filter[rank][_in][1]=mate&sort[0][rank][direction]=desc', 2],
    ['harbour', 'filter[address][_starts_with]=10.', 1],
    ['harbour', 'filter[place][_eq]={"latitude":53.5,"longitude":9.9}', 1],
    ['ship', 'filter[document][_null]=false&sort[0][document][direction]=asc', 1],
    ['captains', 'filter[rank][_contains]=cap', 1],
  ])('compares columns of types of its own by their text: %s %s', async (name, search, count) => {
    expect(await readItems(database, model, name, `fields=*&${search}`)).toHaveLength(count)
  })
})

describe('a sample database in capitals', () => {
  it('keeps its names, and is served with its relations', async () => {
    await run('create schema songs', 'set local search_path = songs', ...songs(postgres.quote))

    const { records } = await importAll()

    const model = buildModel(1, records)
    expect(records.collections).toHaveLength(11)
    expect(records.constraints).toHaveLength(11)
    expect(relationsOf(model, 'Track')).toEqual([
      'Album? Album',
      'Genre? Genre',
      'InvoiceLine[] InvoiceLine',
      'MediaType MediaType',
      'PlaylistTrack[] PlaylistTrack',
      'Playlist[] Playlist',
    ])
    expect(relationsOf(model, 'Employee')).toEqual([
      'Customer[] Customer',
      'Employee[] Employee',
      'ReportsToEmployee? Employee',
    ])
    expect(await unreadable(database, records)).toEqual([])
    expect(
      await readItems(
        database,
        model,
        'Invoice',
        'fields=Total,Customer.FirstName,InvoiceLine.Track.Album.Artist.Name',
      ),
    ).toMatchObject([{ Total: '1.98', Customer: { FirstName: 'Bo' } }])
    expect((await importAll(records)).operations).toEqual([])
    await run('drop schema songs cascade')
  })
})

it('has an enum of a key as any other', async () => {
  await run(
    'create schema boxes',
    `create type boxes.size as enum ('small', 'medium')`,
    'create type boxes.nothing as enum ()',
    'create table boxes.box (size boxes.size primary key, other boxes.size, spare boxes.size unique, none boxes.nothing)',
    'create index box_other on boxes.box (other)',
    'create table boxes.lid (id int primary key, box boxes.size references boxes.box, sizes boxes.size[])',
  )

  const { records } = await importAll()

  const model = buildModel(1, records)
  expect(fieldsOf(model, 'box')).toEqual({
    size: 'string(6)',
    other: 'string(6)?',
    spare: 'string(6)?',
    none: 'string?',
  })
  expect(fieldsOf(model, 'lid')).toEqual({ id: 'int32', box: 'string(6)?', sizes: 'string(6)[]?' })
  await run('drop schema boxes cascade')
})

it('has the foreign keys of a partitioned table that all of its partitions have, and no others', async () => {
  await run(
    'create schema parts',
    'create table parts.people (id int primary key, code text unique)',
    'create table parts.shops (id int primary key)',
    `create table parts.paid (id int, at date not null, person_id int not null, shop_id int, code text references parts.people (code),
      other_id int) partition by range (at)`,
    `create table parts.paid_old partition of parts.paid for values from (minvalue) to ('2025-01-01') partition by range (id)`,
    `create table parts.paid_old_all partition of parts.paid_old for values from (minvalue) to (maxvalue)`,
    `create table parts.paid_new (shop_id int, other_id int, code text, person_id int not null, at date not null, id int)`,
    `alter table parts.paid attach partition parts.paid_new for values from ('2025-01-01') to (maxvalue)`,
    'alter table parts.paid_old add constraint a foreign key (person_id) references parts.people on delete cascade',
    'alter table parts.paid_new add constraint b foreign key (person_id) references parts.people on delete cascade',
    'alter table parts.paid_new add constraint c foreign key (shop_id) references parts.shops',
    'alter table parts.paid_new add constraint d foreign key (other_id) references parts.people',
    'alter table parts.paid_new add constraint e foreign key (other_id) references parts.shops',
    'alter table parts.paid_old_all add constraint d foreign key (other_id) references parts.people',
    'alter table parts.paid_old_all add constraint e foreign key (other_id) references parts.shops',
    `insert into parts.people values (1, 'x')`,
    `insert into parts.paid (id, at, person_id) values (7, '2026-01-01', 1)`,
  )

  const { records } = await importAll()

  const model = buildModel(1, records)
  expect(relationsOf(model, 'paid')).toEqual([
    'codePeople? people',
    'otherPeople? people',
    'otherShops? shops',
    'person people',
  ])
  expect(records.constraints.map(({ dbName, onDelete }) => [dbName, onDelete])).toEqual([
    ['paid_code_fkey', 'noAction'],
    ['paid_other_id_people_fkey', 'noAction'],
    ['paid_other_id_shops_fkey', 'noAction'],
    ['paid_person_id_fkey', 'cascade'],
  ])
  expect(await readItems(database, model, 'paid', 'fields=id,person.code')).toEqual([{ id: 7, person: { code: 'x' } }])
  expect((await importAll(records)).operations).toEqual([])
  await run('drop schema parts cascade')
})

describe('a change behind our back', () => {
  let records: ModelRecords

  beforeEach(async () => {
    await run(
      'drop schema if exists shop cascade',
      'drop schema if exists more cascade',
      'create schema shop',
      'create table shop.people (id int primary key, email text not null, name varchar(20), constraint people_email unique (email))',
      `create table shop.articles (id bigint generated by default as identity primary key, title text not null,
        author_id int not null, price numeric(9, 2) default 1, tags text[],
        constraint author foreign key (author_id) references shop.people (id))`,
      'create index articles_title on shop.articles (title)',
    )
    records = (await importAll()).records
  })

  it.each<[string, string, readonly string[]]>([
    ['a table', 'create table shop.x (id int)', ['createCollection']],
    ['a view', 'create view shop.x as select id from shop.people', ['createCollection']],
    ['a table gone', 'drop table shop.articles', ['deleteRelationFieldPair', 'deleteCollection']],
    ['a schema', 'create schema more', ['createNamespace']],
    [
      'a schema gone',
      'drop schema shop cascade',
      ['deleteRelationFieldPair', 'deleteCollection', 'deleteCollection', 'deleteNamespace'],
    ],
    ['a column', 'alter table shop.people add age int', ['updateCollection', 'createPrimitiveField']],
    ['a column gone', 'alter table shop.people drop name', ['updateCollection', 'deletePrimitiveField']],
    [
      'a type',
      'alter table shop.people alter name type varchar(30)',
      ['updateCollection', 'updatePrimitiveField', 'changeType'],
    ],
    [
      'a type beneath a relation',
      'alter table shop.people alter id type bigint',
      ['deleteRelationFieldPair', 'updateCollection', 'updatePrimitiveField', 'changeType', 'createRelationFieldPair'],
    ],
    [
      'a null',
      'alter table shop.people alter name set not null',
      ['updateCollection', 'updatePrimitiveField', 'changeIsNullable'],
    ],
    [
      'a list',
      'alter table shop.people alter name type varchar(20)[] using array[name]',
      ['updateCollection', 'updatePrimitiveField', 'changeIsList'],
    ],
    [
      'a default',
      `alter table shop.people alter name set default 'x'`,
      ['updateCollection', 'updatePrimitiveField', 'changeDefaultValue'],
    ],
    [
      'a default gone',
      'alter table shop.articles alter price drop default',
      ['updateCollection', 'updatePrimitiveField', 'changeDefaultValue'],
    ],
    [
      'a number that counts no more',
      'alter table shop.articles alter id drop identity',
      ['updateCollection', 'updatePrimitiveField', 'changeDefaultValue'],
    ],
    [
      'a number that nobody may write',
      'alter table shop.articles alter id set generated always',
      ['updateCollection', 'updatePrimitiveField', 'changeIsReadOnly'],
    ],
    ['an index', 'create unique index on shop.people (name, email)', ['updateCollection', 'createIndex']],
    ['an index that is none of ours', 'create unique index on shop.people (lower(name)) where name is not null', []],
    ['an index gone', 'drop index shop.articles_title', ['updateCollection', 'deleteIndex']],
    [
      'a key of another name',
      'alter index shop.people_pkey rename to pk',
      ['deleteRelationFieldPair', 'updateCollection', 'deleteIndex', 'createIndex', 'createRelationFieldPair'],
    ],
    [
      'a foreign key',
      'alter table shop.people add boss_id int references shop.people',
      ['updateCollection', 'createPrimitiveField', 'createRelationFieldPair'],
    ],
    ['a foreign key gone', 'alter table shop.articles drop constraint author', ['deleteRelationFieldPair']],
    [
      'the actions of a foreign key',
      `alter table shop.articles drop constraint author,
        add constraint author foreign key (author_id) references shop.people (id) on delete cascade on update restrict`,
      ['updateRelationFieldPair', 'changeReferentialActions'],
    ],
    [
      'the target of a foreign key',
      `create table shop.staff (id int primary key);
        alter table shop.articles drop constraint author, add constraint author foreign key (author_id) references shop.staff`,
      ['deleteRelationFieldPair', 'createCollection', 'createRelationFieldPair'],
    ],
    ['nothing', 'comment on table shop.people is $$hello$$', []],
  ])('is found: %s', async (_name, statements, kinds) => {
    await run(...statements.split(';\n'))

    const found = await importAll(records)

    expect(kindsOf(found.operations)).toEqual(kinds)
    expect((await importAll(found.records)).operations).toEqual([])
    const fresh = (await importAll()).records
    expect(shapeOf(found.records, crm)).toEqual(shapeOf(fresh, crm))
  })

  it('leaves the ids of everything else', async () => {
    await run(
      'alter table shop.articles drop constraint author, drop price, alter title type varchar(100), add subtitle text',
      'alter table shop.articles add constraint author foreign key (author_id) references shop.people (id) on delete cascade',
      'create table shop.more (id int primary key)',
    )

    const after = (await importAll(records)).records

    const [before, now] = [idsOf(records), idsOf(after)]
    const lost = [...before].filter(([name, one]) => now.get(name) !== one).map(([name]) => name)
    expect(lost.map((name) => name.replace(/^.*\./, ''))).toEqual(['price'])
  })
})

describe('the schemas of the system database', () => {
  it('are seen only where they are asked for', async () => {
    await run(
      'create schema service_shop_meta',
      'create schema service_shop_data',
      'create schema service_other_data',
      'create table service_shop_meta.secret (id int)',
      'create table service_other_data.theirs (id int primary key)',
      'create table service_shop_data.ours (id int primary key, their_id int references service_other_data.theirs)',
    )
    const scope = { kind: 'schemas', names: ['service_shop_data'] } as const

    const { operations, records } = await introspect(database, workspace, { sourceId: id('_system'), scope })

    await run(...['shop_meta', 'shop_data', 'other_data'].map((name) => `drop schema service_${name} cascade`))
    expect(operations.map(({ kind }) => kind)).toEqual(['createCollection'])
    expect(records.namespaces).toEqual(workspace.namespaces)
  })
})

describe('migrations', () => {
  const scope = { kind: 'schemas', names: ['service_shop_data', 'service_shop_x', 'service_shop_y'] } as const
  const own = { sourceId: id('_system'), scope }
  const types = storableTypes({ dialect: postgres })
  const options: RandomOptions = {
    sourceId: id('_system'),
    context,
    namespaceNames: scope.names.slice(1),
    typesOf: () => types,
  }

  /** As the service does it; what the database refuses (a key that a foreign key chose among two) changes nothing. */
  async function migrate(records: ModelRecords, throws: readonly Throw[]): Promise<ModelRecords> {
    const applied = applyThrows(records, throws, options)
    const statements = applied.changes.flatMap(({ change }) => compileChange(change, postgres))
    try {
      await driver.batch(statements.map((statement) => compile(statement, postgres)))
      return applied.records
    } catch (error) {
      if (error instanceof SqlFault) return records
      throw error
    }
  }

  it('leave a database in which an introspection finds the very model', async () => {
    const anyMigrations = fc.array(anyThrows({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 5 })

    await fc.assert(
      fc.asyncProperty(anyMigrations, async (migrations) => {
        await run(
          ...scope.names.map((name) => `drop schema if exists ${name} cascade`),
          'create schema service_shop_data',
        )
        let records = workspace
        for (const throws of migrations) {
          records = await migrate(records, throws)
          expect((await introspect(database, records, own)).operations).toEqual([])
        }

        const fresh = await introspect(database, workspace, own)

        expect(shapeOf(fresh.records, own.sourceId)).toEqual(shapeOf(records, own.sourceId))
      }),
      { numRuns: casesOr(40), endOnFailure: true },
    )
  })
})

it('leaves out what the database user may not read, and tells of it', async () => {
  await run(
    'create role clerk',
    'create schema vault',
    'create table vault.safe (id int)',
    'create schema desk',
    'grant usage on schema desk to clerk',
    'create table desk.letters (id int primary key, subject text, secret text, unique (secret, id))',
    'create table desk.wages (id int)',
    'create table desk.empty ()',
    'grant select (id, subject) on desk.letters to clerk',
    'grant select on desk.empty to clerk',
  )

  const [, rows = []] = await driver.batch([
    { text: 'set local role clerk', params: [] },
    postgresIntrospection.statement({ kind: 'all' }),
  ])
  const { namespaces, tables, skipped } = postgresIntrospection.parse(rows)
  await run('drop schema vault, desk cascade', 'drop role clerk')

  expect(namespaces).toContain('desk')
  expect(namespaces).not.toContain('vault')
  expect(tables.filter(({ schema }) => schema === 'desk')).toMatchObject([
    { dbName: 'empty', columns: [] },
    {
      dbName: 'letters',
      columns: [{ dbName: 'id' }, { dbName: 'subject' }],
      indexes: [{ kind: 'primary', columns: ['id'] }],
    },
  ])
  expect(skipped.filter(({ table }) => /^(desk|vault)\./.test(table))).toEqual([
    { table: 'desk.letters', reason: 'column secret: the database user may not read it' },
    { table: 'desk.wages', reason: 'the database user may not read it' },
    { table: 'vault.safe', reason: 'the database user may not read it' },
  ])
})

it('leaves out foreign tables that no wrapper can reach, with the views over them, and tells of it', async () => {
  await run(
    'create schema abroad',
    'create foreign data wrapper bare',
    'create server far foreign data wrapper bare',
    'create foreign table abroad.ships (id int) server far',
    'create view abroad.fleet as select id from abroad.ships',
    'create view abroad.flagship as select id from abroad.fleet',
    'create table abroad.ports (id int primary key)',
  )
  try {
    const rows = await driver.query(postgresIntrospection.statement({ kind: 'all' }))
    const { tables, skipped } = postgresIntrospection.parse(rows)

    const reason = 'leads to a foreign table whose wrapper has no handler'
    expect(tables.filter(({ schema }) => schema === 'abroad')).toMatchObject([{ dbName: 'ports' }])
    expect(skipped.filter(({ table }) => table.startsWith('abroad.'))).toEqual(
      ['flagship', 'fleet', 'ships'].map((name) => ({ table: `abroad.${name}`, reason })),
    )
  } finally {
    await run('drop schema abroad cascade', 'drop foreign data wrapper bare cascade')
  }
})
