/** Walks by cursors under random policies: the pages of what the naive rules list, or a refusal that says why. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { searchOf } from '../../property/support/reading.ts'
import { type Draft, type Request, requestOf } from '../../property/support/request.ts'
import { seed } from '../../property/support/seed.ts'
import { anyWalk, type Page, walk } from '../../property/support/walks.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { anyCase, expectSame } from './agreement.ts'
import { type Name, names, shop, stockOf } from './library.ts'
import { type Naive, naiveRules } from './naive.ts'
import { load, openService, type Service } from './service.ts'
import { everything } from './writes.ts'

const cases = Math.ceil(casesOr(1000) / 4)

export function describeWalks(opened: () => Opened): void {
  it(`pages by cursor through what a caller sees, in ${cases} combinations of policies, rows and walks`, async () => {
    const database = opened()
    const seen = new Map<string, number>()
    const walks = anyWalk(stockOf(shop), names)
    const property = fc.asyncProperty(anyCase(1, everything.newIds), walks, async (one, drafted) => {
      await load(database, one.rows)
      const service = openService(database, one.policies, one.caller)
      const kind = database.dialect.title === 'MariaDB' ? 'MariaDB' : 'PostgreSQL'
      const naive = naiveRules(one.policies, one.caller, one.rows, kind)
      const { whole } = drafted
      const expected = naive.list(whole.collection as Name, requestOf<Request>(whole.request, 0, 'value'), whole.limits)

      const first = await service.draft(withMeta(whole))
      count(seen, String(first.status))
      if (first.status !== 200) return expectReason(first, { expected, naive, collection: whole.collection as Name })
      const { forward, backward } = await walk(drafted, reading(service))

      const data = 'data' in expected ? expected.data : []
      const told = searchOf(whole)
      expectSame(rowsOf(forward), data, told)
      expectSame(rowsOf(backward), data.slice(0, data.length - (forward.at(-1)?.data.length ?? 0)), told)
    })
    await fc.assert(property, { seed, numRuns: cases })
    console.log(`${database.dialect.title}: ${[...seen].map(([name, times]) => `walks ${name} ${times}×`).join(', ')}`)
    expect([...seen.keys()]).toContain('200')
  })
}

type Answered = {
  readonly expected: ReturnType<Naive['list']>
  readonly naive: Naive
  readonly collection: Name
}

/** What a list would be refused for, or a key that is hidden, in some row at least. */
function expectReason(
  { status, text }: { status: number; text: string },
  { expected, naive, collection }: Answered,
): void {
  if (expected.status !== 200) expect(status).toBe(expected.status)
  else {
    expect([status, text]).toEqual([422, expect.stringContaining('needs a key that tells rows apart')])
    expect(naive.isKeySeen(collection)).toBe(false)
  }
}

function reading(service: Service): (draft: Draft) => Promise<Page> {
  return async (draft) => {
    const { status, text, cursors } = await service.draft(draft)
    expect(status, `${searchOf(draft)} ${text}`).toBe(200)
    return { data: JSON.parse(text), ...(cursors && { cursors }) }
  }
}

export function withMeta(draft: Draft): Draft {
  return { ...draft, request: { ...draft.request, meta: 'cursor' } }
}

function rowsOf(pages: readonly Page[]) {
  return pages.flatMap(({ data }) => data)
}

function count(seen: Map<string, number>, name: string): void {
  seen.set(name, (seen.get(name) ?? 0) + 1)
}
