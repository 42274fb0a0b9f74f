/** Linking what is linked: once where the junction has a key over both sides, otherwise by another row (decision 057). */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fullAccess, granted, type Viewer } from '../../src/core/access/access.ts'
import { mariadb, mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openEmbeddedPostgres } from '../../src/platform/node/embedded/postgres.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { build } from '../support/data/build.ts'
import { createTables, errorMessages, type Item, openItems, type WrittenItems } from '../support/data/items.ts'
import { withManyToMany } from '../support/data/many-to-many.ts'
import { firstOf } from '../support/run/cases.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { openBehindPlanetscale } from '../support/servers/planetscale-gateway.ts'
import { startPostgres } from '../support/servers/postgres.ts'

const drawn = build.model(
  {
    films: { id: 'int32', title: 'string?' },
    actors: { id: 'string(20)', name: 'string?' },
    casts: { filmId: 'int32', actorId: 'string(20)', part: 'string?' },
    likes: { id: 'uuid', filmId: 'int32', actorId: 'string(20)' },
  },
  [
    'casts.film(filmId) -> films.casts',
    'casts.actor(actorId) -> actors.casts',
    'likes.film(filmId) -> films.likes',
    'likes.actor(actorId) -> actors.likes',
  ],
)
const counted = { source: 'engineManaged', onCreate: { kind: 'uuid' } } as const
const { records } = withManyToMany(drawn, {
  junction: 'casts',
  key: ['filmId', 'actorId'],
  sides: [
    { of: 'films', name: 'actors', near: 'casts', back: 'film' },
    { of: 'actors', name: 'films', near: 'casts', back: 'actor' },
  ],
})
const primitiveFields = records.primitiveFields.map((field) =>
  field.id === 'likes.id' ? { ...field, defaultValue: counted } : field,
)
const model = withManyToMany(
  { ...drawn, records: { ...records, primitiveFields } },
  {
    junction: 'likes',
    key: ['id'],
    sides: [
      { of: 'films', name: 'fans', near: 'likes', back: 'film' },
      { of: 'actors', name: 'favorites', near: 'likes', back: 'actor' },
    ],
  },
)

const databases = [
  {
    title: 'PostgreSQL',
    dialect: postgres,
    async start() {
      const server = await startPostgres()
      const driver = openPostgres({ connectionString: server.url })
      return { driver, close: () => driver.close().then(() => server.close()) }
    },
  },
  {
    title: 'MariaDB',
    dialect: mariadb,
    async start() {
      const server = await startMariadb()
      const driver = openMysql(server)
      return { driver, close: () => driver.close().then(() => server.close()) }
    },
  },
  { title: 'PlanetScale', dialect: mariadbConversation, start: openBehindPlanetscale },
  {
    title: 'the embedded database',
    dialect: postgres,
    async start() {
      const directory = await mkdtemp(join(tmpdir(), 'embedded-'))
      await prepareEmbedded(directory)
      const embedded = await openEmbeddedPostgres({ directory })
      const driver = openPostgres({ stream: embedded.connect, max: 4 })
      const close = async () => {
        await driver.close()
        await embedded.close()
        await rm(directory, { recursive: true })
      }
      return { driver, close }
    },
  },
]

// The embedded database is PostgreSQL, too.
describe.each(firstOf(databases, 3))('on $title', ({ dialect, start }) => {
  let driver: SqlDriver
  let close: () => Promise<void>
  let everyone: WrittenItems
  const items = (viewer?: Viewer) => (viewer === undefined ? everyone : openItems(model, driver, dialect, viewer))
  const connect = (...keys: readonly string[]) => [{ _connect: { keys: keys.map((id) => ({ id })) } }]
  const links = async (name: string) =>
    (
      await items().list(
        name,
        `fields=filmId,actorId${name === 'casts' ? ',part' : ''}&sort[0][actorId][direction]=asc`,
      )
    ).map((row) => Object.values(row).join())

  beforeAll(async () => {
    ;({ driver, close } = await start())
    await createTables(model, driver, dialect)
    everyone = openItems(model, driver, dialect)
    await items().create('films', [{ id: 1 }, { id: 2 }])
    await items().create(
      'actors',
      ['a', 'A', 'b', "it's"].map((id): Item => ({ id })),
    )
  })

  afterAll(() => close?.())

  beforeEach(async () => {
    for (const name of ['casts', 'likes']) await items().deleteMany(name, 'filter[filmId][_gt]=0')
    await items().create('casts', [{ filmId: 1, actorId: 'a', part: 'lead' }])
  })

  it('leaves a link as it is, and adds those beside it', async () => {
    await items().updateOne('films', 1, { actors: connect('a', 'A', "it's") })
    await items().updateOne('films', 1, { actors: connect('b', 'b', 'a') })

    expect((await links('casts')).toSorted()).toEqual(['1,A,', '1,a,lead', '1,b,', "1,it's,"])
  })

  it('links once by several operations, and anew what was unlinked between them', async () => {
    await items().updateOne('films', 2, { actors: [...connect('a'), ...connect('a', 'b')] })
    await items().updateOne('films', 1, { actors: [...connect('a'), { _disconnect: {} }, ...connect('a')] })

    expect((await links('casts')).toSorted()).toEqual(['1,a,', '2,a,', '2,b,'])
  })

  it('links new items together', async () => {
    await items().create('films', [
      { id: 3, actors: connect('a') },
      { id: 4, actors: connect('a', 'b') },
    ])
    const found = await items().list('films', 'fields=actors.id&filter[id][_gt]=2&sort[0][id][direction]=asc')
    await items().deleteMany('casts', 'filter[filmId][_gt]=2')
    await items().deleteMany('films', 'filter[id][_gt]=2')

    expect(found).toEqual([{ actors: { data: [{ id: 'a' }] } }, { actors: { data: [{ id: 'a' }, { id: 'b' }] } }])
  })

  it('adds another row where the junction has no key over both sides', async () => {
    await items().updateOne('films', 1, { fans: connect('a') })
    await items().updateOne('films', 1, { fans: connect('a', 'b') })

    expect(await links('likes')).toEqual(['1,a', '1,a', '1,b'])
    expect(await items().list('films', 'fields=fans.id&filter[id][_eq]=1')).toEqual([
      { fans: { data: [{ id: 'a' }, { id: 'b' }] } },
    ])
  })

  it('checks only the links that it adds', async () => {
    const rows = build.read(model, 'casts', 'filter[actorId][_neq]=a').where
    const viewer: Viewer = {
      seesModel: true,
      accessTo: ({ apiName }, action) =>
        apiName === 'casts' && action === 'create'
          ? granted([{ rows, fields: 'every', validation: rows }])
          : fullAccess,
    }
    const refused = await errorMessages(items(viewer).updateOne('films', 2, { actors: connect('a') }))

    await items(viewer).updateOne('films', 1, { actors: connect('a', 'b') })

    expect(refused).toEqual(['You are not allowed to do this'])
    expect(await links('casts')).toEqual(['1,a,lead', '1,b,'])
  })

  it('links nothing where one of the rows is missing', async () => {
    const refused = await errorMessages(items().updateOne('films', 2, { actors: connect('b', 'z') }))

    expect(refused.at(0)).toBe('Query failed')
    expect(await links('casts')).toEqual(['1,a,lead'])
  })

  it('agrees with others who link the same at the same time', async () => {
    const body = { actors: connect('a', 'b', 'A') }

    await Promise.all(Array.from({ length: 6 }, () => items().updateOne('films', 2, body)))

    expect((await links('casts')).filter((link) => link.startsWith('2')).toSorted()).toEqual(['2,A,', '2,a,', '2,b,'])
  })
})
