/** Statements of walks: the forms that an index serves, and few texts. */
import { describe, expect, it } from 'vitest'
import { writeCursor } from '../../../src/core/query/cursor.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { mariadb, mysql } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { compileFirstStretch, compileRead } from '../../../src/core/sql/read.ts'
import { build } from '../../support/data/build.ts'

const model = build.model(
  {
    authors: { id: 'int32', name: 'string(40)?' },
    notes: { id: 'int32', rank: 'int32', due: 'int32?', title: 'string(40)', authorId: 'int32?' },
  },
  ['notes.author(authorId) -> authors.notes'],
)

function statementOf(dialect: Dialect, search: string, values?: readonly unknown[]) {
  const plan = build.read(model, 'notes', search)
  const asked = build.read(model, 'notes', `${search}&meta=cursor`)
  if (values === undefined) return build.statement(plan, dialect)
  const cursor = writeCursor(JSON.stringify([1, asked.page?.walk?.digest, ...values]))
  return build.statement(build.read(model, 'notes', `${search}&after=${cursor}`), dialect)
}

const byRank = 'fields=id&limit=25&sort[0][rank][direction]=asc'

/** The page behind a value of `due`, which an index has before the rows without one. */
function stretchOf(dialect: Dialect, search: string) {
  const asked = build.read(model, 'notes', `${search}&meta=cursor`)
  const after = writeCursor(JSON.stringify([1, asked.page?.walk?.digest, 3, 7]))
  const plan = build.read(model, 'notes', `${search}&meta=cursor&after=${after}`)
  const fields = plan.collection.primitives.filter(({ apiName }) => apiName === 'due')
  const index = { id: 'due', dbName: 'due', kind: 'normal', fields } as const
  const indexed = { ...plan, collection: { ...plan.collection, indexes: [index] } }
  return { first: compileFirstStretch(indexed, dialect)?.text, all: compileRead(indexed, dialect).text }
}

describe('rows without a value, at the other end of an index', () => {
  it('are asked for on PostgreSQL only where those before them have ended', () => {
    const { first, all } = stretchOf(postgres, 'fields=id&limit=25&sort[0][due][direction]=asc')

    expect(all).toContain('"due" is null')
    expect(all).toContain('(select count(*) from "rows0") <')
    expect(first).toContain('("t0"."due", "t0"."id") > ($')
    expect(first).not.toContain('"due" is null')
  })

  it('are asked for with them where nothing says that there are no more', () => {
    const search = 'fields=id&limit=25&sort[0][due][direction]=asc'

    expect(stretchOf(mariadb, search).first).toBeUndefined()
    expect(stretchOf(postgres, 'fields=id&limit=25&sort[0][rank][direction]=asc').first).toBeUndefined()
  })
})

describe('rows behind a cursor', () => {
  it('are compared as rows on PostgreSQL, and column by column on the others', () => {
    const texts = [postgres, mariadb, mysql].map((dialect) => statementOf(dialect, byRank, [3, 7]).text)

    expect(texts[0]).toContain('where ("t0"."rank", "t0"."id") > ($1::integer, $2::integer)')
    const placed =
      '`t0`.`rank` > cast(? as signed) or (`t0`.`rank` = cast(? as signed) and `t0`.`id` > cast(? as signed))'
    expect(texts[1]).toContain(`where (${placed})`)
    expect(texts[2]).toContain(`where (${placed})`)
  })

  it('are guarded on PostgreSQL where directions differ', () => {
    const search = 'fields=id&sort[0][rank][direction]=asc&sort[1][title][direction]=desc'

    const { text } = statementOf(postgres, search, [3, 'a', 7])

    expect(text).toContain('("t0"."rank" >= $1::integer and ("t0"."rank" > $2::integer or')
    expect(text).toContain(
      '("t0"."title"::text <= $4::text and ("t0"."title"::text < $5::text or ("t0"."title"::text = $6::text and "t0"."id" < $7::integer)))',
    )
  })

  it.each([postgres, mariadb, mysql])('have one text for all values of a shape on $title', (dialect) => {
    const searches = [byRank, 'sort[0][due][direction]=desc&sort[1][author.name][direction]=asc']
    const texts = searches.map((search, index) =>
      [0, 1, 2].map(
        (value) => statementOf(dialect, search, index === 0 ? [value, 5] : [value, `name ${value}`, 5]).text,
      ),
    )

    expect(texts.map((some) => new Set(some).size)).toEqual([1, 1])
    expect(texts.flat().some((text) => text.includes('name '))).toBe(false)
  })
})
