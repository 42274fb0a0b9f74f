/**
 * What `matrix.test.ts` says of reads holds of cursors, tags, groups, batches and upserts: hidden and non-existing are one
 * answer for a caller without `dataModel:read`, given before any database is asked.
 */
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../src/core/parts.ts'
import { planUpdateEach } from '../../src/core/plan/bulk/update-each.ts'
import { planUpsert } from '../../src/core/plan/bulk/upsert.ts'
import { openCollection, relatedAccess } from '../../src/core/plan/names.ts'
import type { ProgramPlan } from '../../src/core/plan/plan.ts'
import type { WriteRequest } from '../../src/core/plan/write.ts'
import { parseBrackets } from '../../src/core/query/brackets.ts'
import { writeCursor } from '../../src/core/query/cursor.ts'
import { parseListQuery } from '../../src/core/query/parameters.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { mariadbDatabase, postgresDatabase } from '../property/support/database.ts'
import { modelOf } from '../property/support/shop.ts'
import { build } from '../support/data/build.ts'
import { runBatch } from './support/batch.ts'
import { users } from './support/library.ts'
import type { Policy } from './support/policies.ts'
import { openService, viewerFor } from './support/service.ts'

const asked = () => Promise.reject(new Error('the database was asked'))
const driver: SqlDriver = { query: asked, batch: asked, close: asked }
const caller = { userId: users[0], roleIds: [] }
const FORBIDDEN = '403 You are not allowed to do this'

const reader = (collections: unknown): readonly Policy[] => [{ entitlements: [], collections } as Policy]
const refused = ({ status, text }: { readonly status: number; readonly text?: string }) => `${status} ${text}`

describe.each([
  ['PostgreSQL', postgresDatabase],
  ['MariaDB', mariadbDatabase],
])('a hidden field of %s', (_name, { shop }) => {
  const model = modelOf(shop)
  const visible = { samples: { read: { fields: ['id', 'stocks'] } }, stocks: { read: { fields: ['id', 'sample'] } } }
  const service = openService({ driver, dialect: postgres, model }, reader(visible), caller)
  const seen = ['id', 'stocks']
  const hidden = [...(model.byName.get('samples')?.fields.keys() ?? [])].filter((name) => !seen.includes(name))
  const names = [...hidden, 'unknown', 'constructor', 'samples']

  it('is an unknown one beside cursors and tags', async () => {
    const cursor = writeCursor('[1,"abc",1,1]')
    const usesOf = (name: string) => [
      `sort[0][${name}][direction]=asc&meta=cursor`,
      `sort[0][${name}][direction]=asc&after=${cursor}`,
      `sort[0][${name}][direction]=desc&before=${cursor}`,
      `sort[0][${name}][id][direction]=desc&meta=cursor`,
      `fields=_etag,${name}`,
      `fields=id,${name}._etag`,
      `fields=stocks.sample.${name}._etag`,
      `fields=_etag&filter[${name}][_null]=true`,
      `fields=_etag&sort[0][${name}][direction]=asc`,
      `fields=id&deep[${name}][_meta]=cursor`,
      `fields=id&deep[${name}][_after]=${cursor}`,
      `fields=stocks.id&deep[stocks][_meta]=cursor&deep[stocks][_sort][0][sample][${name}][direction]=asc`,
      `fields=stocks.id&deep[stocks][_after]=${cursor}&deep[stocks][_sort][0][sample.${name}][direction]=asc`,
      `fields=stocks._etag&deep[stocks][_filter][sample][${name}][_null]=false`,
    ]

    const told = new Set<string>()
    for (const name of names) {
      for (const use of usesOf(name)) {
        const reply = await service.list('samples', () => parseListQuery(parseBrackets(use)))
        told.add(`${refused(reply)}${refused(reply) === FORBIDDEN ? '' : ` at ${use}`}`)
      }
    }

    expect(told).toEqual(new Set([FORBIDDEN]))
  })

  it('is no name of a group, as an unknown one is none', async () => {
    const told = new Set<string>()
    for (const name of names) {
      const counted = { aggregate: { n: { count: '*' } }, group: ['id'] }
      const uses = [
        { ...counted, having: { [name]: { _null: true } } },
        { ...counted, having: { _or: [{ n: 1 }, { _not: { [name]: { _eq: 1 } } }] } },
        { ...counted, sort: [{ [name]: { direction: 'asc' } }] },
      ]
      const replies = await Promise.all(uses.map((use) => service.aggregate('samples', use)))
      told.add(replies.map((reply) => refused(reply).replaceAll(name, 'NAME')).join('\n'))
      const behind = await service.aggregate('stocks', { group: [{ [`sample.${name}`]: { as: 'x' } }] })
      expect(refused(behind)).toBe(FORBIDDEN)
    }

    expect([...told].filter((text) => !text.startsWith('422'))).toEqual([])
    expect(told.size).toBe(1)
  })
})

const model = build.model(
  {
    articles: {
      id: 'int32',
      title: 'string',
      secret: 'string?',
      rank: 'int32?',
      labels: 'string[]?',
      ownerId: 'int32?',
    },
    owners: { id: 'int32', token: 'string?' },
    notes: { id: 'int32', articleId: 'int32?' },
  },
  ['articles.owner(ownerId) -> owners.articles', 'notes.article(articleId) -> articles.notes'],
)
const mine = {
  articles: {
    read: { fields: ['id', 'title', 'owner'] },
    create: { fields: ['id', 'title', 'owner'] },
    update: { fields: ['title', 'owner'] },
    delete: 'all',
  },
  owners: { read: { fields: ['id'] }, create: { fields: ['id'] }, update: { fields: ['id'] } },
}

const unseen = [
  'secret',
  'rank',
  'labels',
  'notes',
  'unknown',
  'constructor',
  'toString',
  'SECRET',
  'secret ',
  '"secret"',
  't0.secret',
]

describe('a batch', () => {
  it.each(unseen)('tells a caller without dataModel:read nothing of %s', async (name) => {
    const item = { id: 1, title: 'x' }
    const first = { kind: 'create', as: 'first', collection: 'articles', data: [item] }
    const one = { collection: 'articles', key: 1 }
    const many = { collection: 'articles', filter: { [name]: { _null: true } } }
    const upsert = { kind: 'upsert', collection: 'articles', conflict: { fields: ['id'], do: 'update' } }
    const batches: readonly (readonly object[])[] = [
      [{ kind: 'read', collection: 'articles', fields: [name] }],
      [{ kind: 'read', collection: 'articles', fields: ['id', `owner.${name}`] }],
      [{ kind: 'read', collection: 'articles', fields: ['id', `${name}._etag`] }],
      [{ kind: 'read', collection: 'articles', sort: [{ [name]: { direction: 'asc' } }] }],
      [{ kind: 'read', ...many }],
      [{ kind: 'read', ...one, fields: [name] }],
      [{ kind: 'read', ...one, filter: { _not: { [name]: { _eq: 1 } } } }],
      [{ kind: 'create', collection: 'articles', data: [{ ...item, [name]: null }] }],
      [{ kind: 'create', collection: 'articles', data: [item, { ...item, [name]: 1 }] }],
      [{ kind: 'create', collection: 'articles', data: [item], fields: ['id', name] }],
      [{ kind: 'update', ...one, data: { [name]: 'x' } }],
      [{ kind: 'update', ...one, data: { [name]: { _increment: 1 } } }],
      [{ kind: 'update', ...one, data: { [name]: { _append: ['x'] } } }],
      [{ kind: 'update', ...one, data: { title: 'x' }, filter: { [name]: { _eq: 'x' } } }],
      [{ kind: 'update', ...one, data: { title: 'x' }, ifMatch: 'tag', fields: [name] }],
      [{ kind: 'update', ...many, data: { title: 'x' }, max: 1 }],
      [{ kind: 'update', collection: 'articles', data: [{ id: 1, [name]: 'x' }] }],
      [{ kind: 'update', collection: 'articles', data: [{ id: 1, title: 'x' }], fields: [name] }],
      [{ ...upsert, data: [{ ...item, [name]: 'x' }] }],
      [{ ...upsert, data: [item], fields: ['id', name] }],
      [{ ...upsert, data: [item], conflict: { fields: [name], do: 'update' } }],
      [{ kind: 'read', ...one, fields: ['owner.id'], deep: { owner: { _filter: { [name]: { _eq: 1 } } } } }],
      [{ kind: 'delete', ...one, filter: { [name]: { _eq: 'x' } } }],
      [{ kind: 'delete', ...one, ifMatch: 'tag', fields: ['id', name] }],
      [{ kind: 'delete', ...many, max: 1 }],
      [first, { kind: 'update', ...one, data: { [name]: { $ref: 'first[0].id' } } }],
      ...(/^\w+$/.test(name)
        ? [[first, { kind: 'update', ...one, data: { title: { $ref: `first[0].${name}` } } }]]
        : []),
    ]

    const told = await Promise.all(
      batches.map((batch) => runBatch({ driver, dialect: postgres, model }, { policies: reader(mine), caller }, batch)),
    )

    expect(told.map(refused)).toEqual(batches.map(() => FORBIDDEN))
    expect(told.map(({ operation }) => operation)).toEqual(batches.map(({ length }) => length - 1))
  })

  it('answers a hidden collection as an unknown one', async () => {
    const told = await Promise.all(
      ['notes', 'nothing', '__proto__'].flatMap((collection) =>
        [
          { kind: 'read', collection },
          { kind: 'read', collection, key: 1 },
          { kind: 'create', collection, data: {} },
          { kind: 'update', collection, key: 1, data: {} },
          { kind: 'update', collection, filter: {}, data: {} },
          { kind: 'update', collection, data: [] },
          { kind: 'upsert', collection, data: [], conflict: { fields: ['id'], do: 'ignore' } },
          { kind: 'delete', collection, key: 1 },
          { kind: 'delete', collection, filter: {} },
        ].map((operation) =>
          runBatch({ driver, dialect: postgres, model }, { policies: reader(mine), caller }, [operation]),
        ),
      ),
    )

    expect(new Set(told.map(refused))).toEqual(new Set([FORBIDDEN]))
  })
})

describe('an upsert and a change of a list', () => {
  it.each(unseen)('tell a caller without dataModel:read nothing of %s', (name) => {
    const viewer = viewerFor(reader(mine), caller, model)
    const { collection } = openCollection(model, viewer, 'articles', 'create')
    const access = relatedAccess(viewer, collection)
    const asking = (fields?: readonly string[]): WriteRequest => ({
      viewer,
      collection,
      generators: { uuid: () => '', now: () => '' },
      read: { viewer, collection, access, limits: { default: 1, max: 10 }, maxRows: 10 },
      query: () => ({ ...parseListQuery({}), fields }),
      tags: undefined,
    })
    const item = { id: 1, title: 'x' }
    const byKey = { conflict: { fields: ['id'], do: 'update' }, most: 10 } as const
    const plans = [
      () => planUpsert(asking(), [item], { ...byKey, conflict: { fields: [name], do: 'update' } }),
      () => planUpsert(asking(), [item], { ...byKey, conflict: { fields: ['id', name], do: 'ignore' } }),
      () => planUpsert(asking(), [{ ...item, [name]: 'x' }], byKey),
      () => planUpsert(asking(['id', name]), [item], byKey),
      () => planUpdateEach(asking(), [{ id: 1, [name]: 'x' }], 10),
      () => planUpdateEach(asking(), [{ id: 1, [name]: { _increment: 1 } }], 10),
      () => planUpdateEach(asking([name]), [item], 10),
    ]

    for (const plan of plans) expect(() => atOnce<ProgramPlan>(plan())).toThrow(/^You are not allowed to do this$/)
  })
})
