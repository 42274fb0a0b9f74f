/**
 * The law of types (docs/contract.md#values): what a read answers is JSON, is found by `_eq` and `_in` and by key, can be
 * written back, and nothing of it changes in the database; it is sorted and compared as the database does.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { casesOr } from '../../../support/run/cases.ts'
import { announce, seed } from '../seed.ts'
import type { ColumnType } from './column-type.ts'
import { typesPage, typesSection } from './page.ts'
import type { TypeDatabase, TypeSource } from './source.ts'

/** A value as it is shown, and the row that it stands in. */
type Shown = { readonly id: number; readonly v: unknown }

type Tagged = { readonly id: number; readonly _etag: string }

/** Of a type all are asked for, whichever is broken. */
type Law = {
  readonly title: string
  readonly isFor: (type: ColumnType) => boolean
  readonly holds: (index: number, type: ColumnType) => Promise<void>
}

const anyType = () => true

async function named(title: string, held: Promise<void>): Promise<void> {
  await held.catch((cause: unknown) => {
    throw new Error(title, { cause })
  })
}

/** All values of a dialect; each setting of its server tries a part of them. */
const CASES = casesOr(600)

export function describeTypes(database: TypeDatabase): void {
  const { types, quote, way } = database
  const title = way === undefined ? database.title : `${database.title} ${way}`
  const each = types.map((type, index) => [index, type.name, type] as const)
  // What a value is depends on the database; the ways to it only have to carry it.
  const size = Math.max(4, Math.ceil((way === undefined ? CASES : CASES / 4) / types.length / 2))

  const ways = [['as it comes', []] as const, ['by other settings', database.settings] as const]

  describe.each(database.settings.length === 0 ? ways.slice(0, 1) : ways)(
    `a type of ${title}, ${announced(title)}`,
    (_, settings) => {
      let source: TypeSource
      const laws: Law[] = []
      const rows = new Map<number, readonly Shown[]>()

      beforeAll(async () => {
        source = await database.start(settings)
        await source.run(...types.flatMap((type, index) => tablesOf(type, index)))
        for (const [index, , type] of each) {
          const values = fc.sample(type.values, { seed: seed + index, numRuns: size })
          for (let start = 0; start < values.length; start += 500) {
            const part = values
              .slice(start, start + 500)
              .map((text, place) => `(${start + place}, ${quote(text, type)})`)
            await source.run(`insert into t${index} values ${part.join(', ')}`)
          }
          if (type.isKey) await source.run(database.distinct(index))
        }
        await source.attach()
        for (const [index] of each)
          rows.set(index, await source.read(`t${index}?fields=id,v&limit=-1&sort[0][id][direction]=asc`))
      })

      afterAll(() => source?.close())

      law('is read as a value', anyType, async (index) => {
        const shown = rows.get(index) ?? []

        expect(shown).toHaveLength(size)
        expect(shown.filter(({ v }) => v === null)).toEqual([])
      })

      law(
        'is found by what is shown',
        ({ isFiltered }) => isFiltered,
        async (index) => {
          for (const part of parts(rows.get(index) ?? [])) {
            const ids = part.map(({ id }) => id)
            const pairs = (operator: string) => part.map(({ id, v }) => ({ id: { _eq: id }, v: { [operator]: v } }))

            expect(await source.idsOf(`t${index}`, { _or: pairs('_eq') })).toEqual(ids)
            expect(await source.idsOf(`t${index}`, { _or: pairs('_neq') })).toEqual([])
          }
        },
      )

      law(
        'is found in a list',
        (type) => type.isFiltered && !hasNoList(type),
        async (index) => {
          for (const part of parts(rows.get(index) ?? [])) {
            const ids = part.map(({ id }) => id)
            const among = part.map(({ v }) => v)

            expect(await source.idsOf(`t${index}`, { id: { _in: ids }, v: { _in: among } })).toEqual(ids)
            expect(await source.idsOf(`t${index}`, { id: { _in: ids }, v: { _nin: among } })).toEqual([])
          }
        },
      )

      law(
        'is sorted and compared as in SQL',
        ({ isOrdered }) => isOrdered,
        async (index, { inSql: own = 'v' }) => {
          const all = rows.get(index) ?? []
          const sorted = await source.read(
            `t${index}?fields=id&limit=-1&sort[0][v][direction]=desc&sort[1][id][direction]=asc`,
          )
          const expected = await source.run(`select id from t${index} order by ${own} desc, id`)

          expect(sorted.map(({ id }) => id)).toEqual(expected.map(([id]) => Number(id)))
          for (const { id, v } of hasNoOrder(all) ? [] : all.slice(0, 3)) {
            const below = await source.run(
              `select id from t${index} where ${own} < (select ${own} from t${index} where id = ${id}) order by id`,
            )

            expect(await source.idsOf(`t${index}`, { v: { _lt: v } })).toEqual(below.map(([one]) => Number(one)))
          }
        },
      )

      law('is written back as it was', anyType, async (index, type) => {
        const all = rows.get(index) ?? []
        for (let start = 0; start < all.length; start += 500) {
          const part = all.slice(start, start + 500)

          expect(await source.write('POST', `c${index}`, part)).toEqual(part)
        }
        const { same = (one: string, other: string) => `${database.text(one)} = ${database.text(other)}` } = type
        const differing = `select t.id from t${index} t join c${index} c on c.id = t.id where (${same('t.v', 'c.v')}) is not true`

        expect(await source.run(differing)).toEqual([])
        for (const [place, { v }] of all.slice(0, 5).entries()) {
          const id = all.at(-1 - place)?.id
          expect(await source.write('PATCH', `c${index}/${id}`, { v })).toEqual({ id, v })
        }
      })

      law('has one tag, whether the database or the service makes it', anyType, async (index) => {
        const shown = (await source.read(`t${index}?fields=id,_etag&limit=-1`)) as unknown as readonly Tagged[]

        for (const { id, _etag } of shown.slice(0, Math.max(5, size / 10))) {
          expect(await source.tagged(`t${index}/${id}`)).toEqual([`"${_etag}"`, 200])
        }
      })

      law(
        'is null where it is',
        ({ name }) => !name.endsWith(' not null'),
        async (index) => {
          const written = await source.write('POST', `c${index}`, [{ id: -2, v: null }])
          const changed = await source.write('PATCH', `c${index}/-2`, { v: null })
          const found = await source.run(`select count(*) from c${index} where id = -2 and v is null`)

          expect([written, changed, found]).toEqual([[{ id: -2, v: null }], { id: -2, v: null }, [['1']]])
        },
      )

      law(
        'is a key',
        ({ isKey }) => isKey,
        async (index) => {
          const keys = await source.read(`k${index}?limit=-1`)

          for (const { v } of keys.slice(0, 40)) {
            const key = keyText(v)
            if (['', '.', '..'].includes(key)) continue
            const quoted = key.startsWith('"') ? `"${key.replaceAll('"', '""')}"` : key
            const path = `k${index}/${encodeURIComponent(quoted)}`
            expect(await source.one(path)).toEqual({ v, n: null })
            expect(await source.write('PATCH', path, { v, n: 1 })).toEqual({ v, n: 1 })
          }
          if (keys.length > 0) expect(await source.write('POST', `k${index}`, [])).toEqual([])
        },
      )

      it.each(each)('%i %s keeps the law', async (index, _name, type) => {
        for (const { title, holds } of laws.filter(({ isFor }) => isFor(type))) {
          await expect.soft(named(title, holds(index, type))).resolves.toBeUndefined()
        }
      })

      // The page is made from a server's own settings.
      const isPlain = settings.length === 0 && way === undefined
      it.each(isPlain ? [database.title] : [])('%s has its row in docs/types.md', async () => {
        const fields = await source.fieldsOf('v')
        const section = typesSection(
          database.title,
          each.map(([index, , type]) => ({ type, field: fields.get(`t${index}`) ?? '', isListed: !hasNoList(type) })),
        )

        expect(typesPage(database.title, section)).toContain(section)
      })

      function law(title: string, isFor: Law['isFor'], holds: Law['holds']): void {
        laws.push({ title, isFor, holds })
      }

      function tablesOf({ name, isKey, first }: ColumnType, index: number): readonly string[] {
        const table = (letter: string) => `create table ${letter}${index} (id int primary key, v ${name})`
        const filled = first === undefined ? [] : [`insert into c${index} values (-1, ${first})`]
        return [
          table('t'),
          table('c'),
          ...filled,
          ...(isKey ? [`create table k${index} (v ${name} primary key, n int)`] : []),
        ]
      }

      function hasNoList({ name }: ColumnType): boolean {
        return database.unlisted.includes(name)
      }
    },
  )
}

function announced(title: string): string {
  announce(`types of ${title}`)
  return `seed ${seed}`
}

/** Values that only have equality: JSON, truth, identifiers. */
function hasNoOrder([first]: readonly Shown[]): boolean {
  return typeof first?.v === 'boolean' || typeof first?.v === 'object' || isIdentity.test(String(first?.v))
}

/** The text by which a path names a key. */
function keyText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const isIdentity = /^[0-9a-f]{8}-[0-9a-f]{4}-/

/** At most eighty, which is as many conditions as a filter may have, and no more than a query string takes. */
function parts(all: readonly Shown[]): readonly (readonly Shown[])[] {
  const made: Shown[][] = []
  let length = Infinity
  for (const one of all) {
    const own = encodeURIComponent(JSON.stringify(one)).length + 80
    if (length + own > 50_000 || (made.at(-1)?.length ?? 0) >= 80) {
      made.push([])
      length = 0
    }
    made.at(-1)?.push(one)
    length += own
  }
  return made
}
