/** Walks at random: pages of any size, forward and backward, by cursors over an order that may hold nulls, ties and relations. */
import fc, { type Arbitrary } from 'fast-check'
import { anyFilter, anySort, type Draft, type Request, type Sort, type Stock } from './request.ts'
import type { Row } from './rows.ts'

const MAX = 10_000

export type WalkDraft = {
  readonly whole: Draft
  /** The sizes of the pages, again and again. */
  readonly sizes: readonly number[]
}

/** Of collections with a key. Cursors follow at most eight fields, and none of JSON. */
export function anyWalk(stock: Stock, collections: readonly string[]): Arbitrary<WalkDraft> {
  return fc
    .tuple(fc.constantFrom(...collections), fc.constantFrom<Draft['form']>('text', 'json'))
    .chain(([collection, form]) => {
      const filter = fc.option(anyFilter({ ...stock, form, max: MAX }, collection, 1), { nil: undefined, freq: 1 })
      const sort = fc.option(anySort({ ...stock, unsorted: ['json'] }, collection), { nil: undefined, freq: 8 })
      return fc.tuple(filter, sort, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 })).map(
        ([one, sorted, sizes]): WalkDraft => ({
          whole: {
            collection,
            form,
            request: {
              ...(one !== undefined && { filter: one }),
              ...(sorted !== undefined && { sort: sorted as Sort }),
              limit: -1,
            },
            isDotted: false,
            limits: { default: 10, max: MAX },
          },
          sizes,
        }),
      )
    })
}

export type Told = { readonly next: string | null; readonly previous: string | null }
export type Page = { readonly data: readonly Row[]; readonly cursors?: Told }
type Read = (draft: Draft) => Promise<Page>

/** The pages from the first to the last, and then those from the last to the first, each as a list of items. */
export async function walk(
  { whole, sizes }: WalkDraft,
  read: Read,
): Promise<{ readonly forward: readonly Page[]; readonly backward: readonly Page[] }> {
  const sizeOf = (page: number) => sizes[page % sizes.length] ?? 1
  const page = (from: Pick<Request, 'after' | 'before'>, limit: number) =>
    read({ ...whole, request: { ...whole.request, ...from, limit, meta: 'cursor' } })
  const forward: Page[] = [await page({}, sizeOf(0))]
  for (let next = forward[0]?.cursors?.next; typeof next === 'string'; next = forward.at(-1)?.cursors?.next) {
    forward.push(await page({ after: next }, sizeOf(forward.length)))
  }
  const backward: Page[] = []
  let previous = forward.at(-1)?.cursors?.previous
  while (typeof previous === 'string') {
    backward.unshift(await page({ before: previous }, sizeOf(backward.length)))
    previous = backward[0]?.cursors?.previous
  }
  return { forward, backward }
}
