/**
 * Cursors that somebody made up, with values that no field takes: a read by a batch answers them as its own route does, an
 * item or a fault of the caller at `after` or `before`, and a batch that has written before leaves nothing.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import { anyDraft, type Request, requestOf } from '../../property/support/request.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { expectSame } from './agreement.ts'
import { runBatch } from './batch.ts'
import { everyRight } from './batches.ts'
import { anyRows, names, shop, stockOf } from './library.ts'
import { anyCaller } from './policies.ts'
import { dump, load, openService } from './service.ts'

const cases = Math.ceil(casesOr(1000) / 10)

const hostile = fc.oneof(
  fc.constantFrom(
    null,
    '',
    'x',
    '\u0000',
    '\ud800',
    '1e400',
    '-1e400',
    '9'.repeat(400),
    'NaN',
    'infinity',
    '2026-02-30',
  ),
  fc.constantFrom(
    '10000-01-01',
    '{',
    '[]',
    '{"a":',
    "'",
    '\\',
    '00000000-0000-0000-0000-00000000000g',
    1,
    1.5,
    true,
    [],
    {},
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.integer().map(String),
)

export function describeForgedCursors(opened: () => Opened): void {
  it(`answers forged cursors in ${cases} batches as lists do, and never fails of them`, async () => {
    const database = opened()
    const seen = new Map<string, number>()
    const drafts = anyDraft(stockOf(shop), names)
    const forgeries = fc.array(fc.tuple(fc.array(hostile, { maxLength: 12 }), fc.nat(12), fc.boolean()), {
      minLength: 8,
      maxLength: 8,
    })
    const property = fc.asyncProperty(anyRows, anyCaller, drafts, forgeries, async (rows, caller, draft, forged) => {
      await load(database, rows)
      const policies = [everyRight]
      const service = openService(database, policies, caller)
      const { collection } = draft
      const { offset: _, filter: __, ...request } = requestOf<Request>(draft.request, 0, 'sent')
      const page = { ...request, limit: 1, meta: 'cursor' }
      const first = await service.list(collection, () => parseListArguments(page))
      const next = first.cursors?.next
      if (typeof next !== 'string') return
      const before = await dump(database)
      for (const [values, kept, isAfter] of forged) {
        const cursor = forge(next, values, kept)
        const from = { ...page, [isAfter ? 'after' : 'before']: cursor }
        const alone = await service.list(collection, () => parseListArguments(from))
        const read = { kind: 'read', collection, ...from }
        const created = { kind: 'create', collection: 'people', data: [{ id: 77 }] }
        const [batch, behind] = [
          await runBatch(database, { policies, caller }, [read]),
          await runBatch(database, { policies, caller }, [
            created,
            read,
            { kind: 'delete', collection: 'people', key: 77 },
          ]),
        ]

        const about = `${collection} ${JSON.stringify(from)} ${JSON.stringify(values)}`
        expect([200, 422], about).toContain(alone.status)
        expect([batch.status, behind.status], about).toEqual([alone.status, alone.status])
        if (alone.status === 422) {
          expect([batch.text, batch.operation, behind.operation], about).toEqual([alone.text, 0, 1])
          expect(batch.place, about).toMatch(/^operations\[0\]\.(after|before)/)
        }
        expectSame(await dump(database), before, about)
        seen.set(`${alone.status}`, (seen.get(`${alone.status}`) ?? 0) + 1)
      }
    })
    await fc.assert(property, { seed, numRuns: cases })
    console.log(
      `${database.dialect.title}: forged cursors ${[...seen].map(([name, times]) => `${name} ${times}×`).join(', ')}`,
    )
    expect([...seen.keys()]).toContain('422')
  })
}

/** With other values behind the first `kept` of its parts, of the number that it has or another one. */
function forge(cursor: string, values: readonly unknown[], kept: number): string {
  const parts: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  const head = parts.slice(0, Math.max(kept % 3 === 0 ? kept : 2, 2))
  const all = [...head, ...values]
  const forged = kept % 2 === 0 ? [...all, ...parts.slice(all.length)].slice(0, parts.length) : all
  return Buffer.from(JSON.stringify(forged)).toString('base64url')
}
