/**
 * Hidden and non-existing are one answer for a caller without `dataModel:read` (docs/contract.md#items), given before
 * any database is asked.
 */
import { expect, it } from 'vitest'
import { viewerOf } from '../../src/core/access/merge.ts'
import { parsePolicy } from '../../src/core/access/policy.ts'
import { noRights, type Rights } from '../../src/core/access/principal.ts'
import { buildModel, type Collection, type ModelRecords } from '../../src/core/model/model.ts'
import { aggregateFunctions, operators } from '../../src/core/model/vocabulary.ts'
import { openCollection } from '../../src/core/plan/names.ts'
import { planList } from '../../src/core/plan/read.ts'
import { parseBrackets } from '../../src/core/query/brackets.ts'
import { parseListQuery } from '../../src/core/query/parameters.ts'
import type { ReadQuery } from '../../src/core/query/parse.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { mariadbDatabase, postgresDatabase } from '../property/support/database.ts'
import { modelOf } from '../property/support/shop.ts'
import { build } from '../support/data/build.ts'
import { users } from './support/library.ts'
import type { Policy } from './support/policies.ts'
import { openService, type Reply } from './support/service.ts'

const asked = () => Promise.reject(new Error('the database was asked'))
const driver: SqlDriver = { query: asked, batch: asked, close: asked }
const caller = { userId: users[0], roleIds: [] }

const reader = (collections: unknown, entitlements: readonly string[] = []): readonly Policy[] => [
  { entitlements, collections } as Policy,
]
const refused = (reply: Reply) => `${reply.status} ${reply.text}`
const FORBIDDEN = '403 You are not allowed to do this'
const plain = parseListQuery({})
const filteredBy = (value: unknown) => (): ReadQuery => ({ ...plain, filter: { form: 'json', value } })
const selecting = (path: string) => (): ReadQuery => ({ ...plain, fields: [path] })
const sortedBy = (field: string) => (): ReadQuery => ({
  ...plain,
  sort: [{ names: field.split('.'), direction: 'asc', nulls: undefined }],
})
const rebuilt = (records: ModelRecords) => buildModel(2, records)
const query = (text: string) => () => parseListQuery(parseBrackets(text))

/** Every way in which aggregates name a field. */
const aggregatesOf = (name: string) => [
  ...aggregateFunctions.map((called) => ({ aggregate: { n: { [called]: name } } })),
  { group: [name] },
  { group: [{ [name]: { trunc: 'month', zone: '+01:00', as: 'month' } }] },
  { aggregate: { n: { count: '*' } }, filter: { [name]: { _eq: 1 } } },
  { aggregate: { n: { count: '*' } }, filter: { stocks: { _some: { sample: { [name]: 1 } } } } },
]

it.each([
  ['PostgreSQL', postgresDatabase],
  ['MariaDB', mariadbDatabase],
])('answers every use of every hidden field of %s as that of an unknown one', async (_name, { shop }) => {
  const model = modelOf(shop)
  const visible = { samples: { read: { fields: ['id', 'stocks'] } }, stocks: { read: { fields: ['id', 'sample'] } } }
  const service = openService({ driver, dialect: postgres, model }, reader(visible), caller)
  const hidden = [...(model.byName.get('samples')?.fields.keys() ?? [])].filter(
    (name) => name !== 'id' && name !== 'stocks',
  )
  const operands = [1, 'x', null, true, [], [null], ['1', '2'], {}]

  const replies: string[] = []
  for (const name of [...hidden, 'unknown', 'owners']) {
    for (const operator of [...operators, '_some', '_every', '_none', '_unknown']) {
      for (const operand of operands)
        replies.push(refused(await service.list('samples', filteredBy({ [name]: { [operator]: operand } }))))
    }
    const uses = [
      `filter[${name}]=1`,
      `filter[_and][0][${name}][_eq]=1`,
      `filter[_or][0][_not][${name}][_eq]=1`,
      `filter[stocks][_some][sample][${name}][_eq]=1`,
      `sort[0][${name}][direction]=asc`,
      `sort[0][${name}][id][direction]=asc`,
      `sort[0][${name}.id][direction]=asc`,
      `fields=stocks.id&deep[stocks][_sort][0][sample][${name}][direction]=asc`,
      `fields=${name}`,
      `fields=id,${name}.id`,
      `fields=id,stocks.sample.${name}`,
      `fields=id&deep[${name}][_limit]=1`,
      `fields=stocks.sample.id&deep[stocks.sample][${name}][_limit]=1`,
      `fields=stocks.id&deep[stocks][_filter][sample][${name}][_eq]=1`,
      `fields=id&deep[${name}][_aggregate][n][count]=*`,
      `fields=id&deep[stocks][_aggregate][n][max]=${name}`,
      `fields=id&deep[stocks][_aggregate][n][count]=*&deep[stocks][_filter][sample][${name}][_eq]=1`,
    ]
    for (const use of uses) replies.push(refused(await service.list('samples', query(use))))
    for (const sent of aggregatesOf(name)) replies.push(refused(await service.aggregate('samples', sent)))
    const behind = { group: [`sample.${name}`] }
    replies.push(refused(await service.aggregate('stocks', behind)))
  }

  expect(new Set(replies)).toEqual(new Set([FORBIDDEN]))
  expect(replies.length).toBeGreaterThan(5_000)
})

const model = build.model(
  {
    articles: { id: 'int32', title: 'string', secret: 'string?', ownerId: 'int32?' },
    owners: { id: 'int32', token: 'string', userId: 'uuid?' },
  },
  ['articles.owner(ownerId) -> owners.articles'],
)
const partly = { articles: { read: { fields: ['id', 'title', 'owner'] } }, owners: { read: { fields: ['id'] } } }

it.each([
  'secret',
  'unknown',
  'articles.secret',
  't0.secret',
  't1.token',
  'owner.token',
  '"secret"',
  '`secret`',
  'secret as x',
  'x:secret',
  'SECRET',
  'secret ',
  '*.secret',
  'constructor',
  'toString',
])('tells a caller without dataModel:read nothing of %s', async (name) => {
  const service = openService({ driver, dialect: postgres, model }, reader(partly), caller)
  const filters = [{ [name]: { _eq: 'x' } }, { [name]: 'x' }, { _not: { [name]: { _null: true } } }]

  const replies = [
    ...(await Promise.all(
      filters.map((filter) => service.list('articles', filteredBy(JSON.parse(JSON.stringify(filter))))),
    )),
    await service.list('articles', sortedBy(name)),
    await service.list('articles', selecting(name)),
    await service.list('articles', selecting(`owner.${name}`)),
    await service.list('articles', sortedBy(`owner.${name}`)),
  ]

  expect(new Set(replies.map(refused))).toEqual(new Set([FORBIDDEN]))
})

it('tells a caller with dataModel:read what is unknown, and no more of what is hidden', async () => {
  const service = openService({ driver, dialect: postgres, model }, reader(partly, ['dataModel:read']), caller)

  const [unknown, hidden, collection] = [
    await service.list('articles', filteredBy({ unknown: 1 })),
    await service.list('articles', filteredBy({ secret: 'x' })),
    await service.list('nothing', selecting('id')),
  ]

  expect(unknown?.status).toBe(422)
  expect(refused(hidden)).toBe(FORBIDDEN)
  expect(collection?.status).toBe(404)
})

it('answers a hidden collection as an unknown one', async () => {
  const service = openService({ driver, dialect: postgres, model }, reader({ articles: { read: 'all' } }), caller)

  const replies = [
    await service.list('owners', selecting('id')),
    await service.list('nothing', selecting('id')),
    await service.list('__proto__', selecting('id')),
    await service.list('articles', selecting('owner.id')),
    await service.list('articles', filteredBy({ owner: {} })),
    await service.list('articles', filteredBy({ owner: { nothing: 1 } })),
    await service.aggregate('owners', { aggregate: { n: { count: '*' } } }),
    await service.aggregate('nothing', { aggregate: { n: { count: '*' } } }),
    await service.aggregate('articles', { group: ['owner.id'] }),
  ]

  expect(new Set(replies.map(refused))).toEqual(new Set([FORBIDDEN]))
})

it.each([
  { userId: '$CURRENT_USER' },
  { userId: { _neq: '$CURRENT_USER' } },
  { userId: { _nin: ['$CURRENT_USER'] } },
  { _not: { userId: { _eq: '$CURRENT_USER' } } },
  { _or: [{ id: { _gt: 0 } }, { userId: { _in: ['$CURRENT_USER'] } }] },
  { articles: { _none: { owner: { userId: '$CURRENT_USER' } } } },
])('admits an anonymous caller to nothing by %j', async (filter) => {
  const anonymous = { userId: undefined, roleIds: [] }
  const service = openService({ driver, dialect: postgres, model }, reader({ owners: { read: { filter } } }), anonymous)

  const reply = await service.list('owners', selecting('id'))

  expect(refused(reply)).toBe(FORBIDDEN)
})

it('gives no old right to a field that takes over a name', () => {
  const filter = { secret: { _neq: 'x' } }
  const contents = [
    { collections: { articles: { read: { fields: ['id', 'secret'] } } } },
    { collections: { articles: { read: { filter } } } },
  ].map((content) => parsePolicy(content, model))
  const shape = {
    articles: { id: 'int32', title: 'string', replaced: 'string?', ownerId: 'int32?' },
    owners: { id: 'int32' },
  }
  const { records } = build.model(shape)
  const primitiveFields = records.primitiveFields.map((field) =>
    field.apiName === 'replaced' ? { ...field, apiName: 'secret' } : field,
  )
  const later = rebuilt({ ...records, primitiveFields })
  const rights: Rights = {
    ...noRights,
    kind: 'policies',
    userId: users[0],
    roleIds: [],
    policies: contents,
    entitlements: new Set(),
  }
  const viewer = viewerOf(rights, later)
  const { collection, access } = openCollection(later, viewer, 'articles', 'read')
  const plan = (read: () => ReadQuery) =>
    planList({ viewer, collection, access, limits: { default: 1, max: 1 }, maxRows: 1 }, read())

  expect(() => plan(selecting('secret'))).toThrow('You are not allowed to do this')
  expect(() => plan(filteredBy(filter))).toThrow('You are not allowed to do this')
  expect(plan(selecting('*')).selection.map(({ name }) => name)).toEqual(['id'])
  expect(access.grants).toHaveLength(1)
})

it('gives no old right to a collection that takes over a name', () => {
  const content = parsePolicy({ collections: { articles: { read: 'all' } } }, model)
  const { records } = build.model({ renewed: { id: 'int32' } })
  const later = rebuilt({
    ...records,
    collections: records.collections.map((one) => ({ ...one, apiName: 'articles' })),
  })
  const rights: Rights = {
    ...noRights,
    kind: 'policies',
    userId: users[0],
    roleIds: [],
    policies: [content],
    entitlements: new Set(),
  }

  const access = viewerOf(rights, later).accessTo(later.byName.get('articles') as Collection, 'read')

  expect(access.kind).toBe('denied')
})
