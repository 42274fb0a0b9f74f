/** The rows of a grid: page after page by cursors as they are needed, each kept as it was read. */
import { batch, signal } from '@preact/signals'
import type { ServiceError } from 'governed-data-client'
import { clientOf } from '../../data/client.ts'
import type { CollectionModel } from './model.ts'
import { queryOf, type View } from './request.ts'
import type { Row } from './values.ts'

/** The first page comes fast, further ones seldom. */
const FIRST = 100
const FURTHER = 500

/** So many are counted without being asked for: that takes no longer than guessing. */
const CHEAP = 20_000

/** More are not kept; whoever looks for others filters. */
const MOST = 50_000

type Page = { readonly data: readonly Row[]; readonly meta?: { readonly next?: string | null } }
type Counted = { readonly meta: { readonly totalCount: number } }
type Estimate = { readonly meta: { readonly totalEstimate: number | null } }

export type Rows = ReturnType<typeof createRows>

export function createRows(workspace: string, model: CollectionModel, view: View) {
  const rows = signal<readonly Row[] | undefined>(undefined)
  const error = signal<ServiceError | undefined>(undefined)
  const isLoading = signal(false)
  /** About how many there are, where that is known; exact once all are here. */
  const total = signal<{ readonly count: number; readonly isExact: boolean } | undefined>(undefined)
  let next: string | null | undefined
  let isClosed = false
  /** The page that is on its way, for all who want it. */
  let loading: Promise<void> | undefined
  /** How often the list was started anew; answers to earlier requests are not shown. */
  const turn = signal(0)
  const isKeyset = model.key.length > 0
  const path = `items/${encodeURIComponent(model.name)}`
  const query = queryOf(model, view)
  /** Where the row of a key stands, for the rows that it was made of. */
  let places: { readonly of: readonly Row[] | undefined; readonly by: Map<string, number> } | undefined
  const ask = <T>(more: object) => clientOf(workspace).$request<T>('GET', path, { query: { ...query, ...more } })

  const isEnd = () => next === null
  const isFull = () => (rows.value?.length ?? 0) >= MOST

  /** The next page. */
  function loadMore(): Promise<void> {
    if (isEnd() || isFull() || isClosed) return Promise.resolve()
    loading ??= load()
    return loading
  }

  async function load(): Promise<void> {
    const own = turn.value
    isLoading.value = true
    const isFirst = rows.value === undefined && next === undefined
    const limit = isFirst ? FIRST : FURTHER
    const from = isKeyset ? { after: next } : { offset: rows.value?.length ?? 0 }
    const answer = await ask<Page>({ limit, ...(!isFirst && from), ...(isKeyset && { meta: 'cursor' }) })
    if (isClosed || own !== turn.value) return
    loading = undefined
    batch(() => {
      isLoading.value = false
      error.value = answer.ok ? undefined : answer.error
      if (!answer.ok) return
      const { data, meta } = answer.data
      next = isKeyset ? (meta?.next ?? null) : data.length < limit ? null : undefined
      // After those that are there by now: some were changed or dropped while this page was on its way.
      const all = [...(rows.value ?? []), ...data]
      rows.value = all
      if (isEnd()) total.value = { count: all.length, isExact: true }
    })
    if (isFirst && answer.ok && !isEnd()) void estimate()
  }

  /** After the rows, which it never holds up. */
  async function estimate(): Promise<void> {
    const answer = await ask<Estimate>({ limit: 1, fields: model.key.join(), meta: 'totalEstimate' })
    const about = answer.ok ? answer.data.meta?.totalEstimate : null
    if (isClosed || total.value?.isExact || typeof about !== 'number') return
    if (
      about > 1_000 &&
      about <= CHEAP &&
      (await count().then(
        () => true,
        () => false,
      ))
    )
      return
    total.value = { count: Math.max(about, rows.value?.length ?? 0), isExact: about <= 1_000 }
  }

  /** However long it takes; throws what fails. */
  async function count(): Promise<void> {
    const own = turn.value
    const answer = await ask<Counted>({ limit: 1, fields: model.key.join(), meta: 'totalCount' })
    if (!answer.ok) throw answer.error
    if (!isClosed && own === turn.value) total.value = { count: answer.data.meta.totalCount, isExact: true }
  }

  function placeOf(key: readonly unknown[]): number | undefined {
    if (places?.of !== rows.value) {
      const by = new Map((rows.value ?? []).map((row, place) => [JSON.stringify(keyOf(model, row)), place]))
      places = { of: rows.value, by }
    }
    return places?.by.get(JSON.stringify(key))
  }

  return {
    rows,
    error,
    isLoading,
    total,
    turn,
    isEnd,
    isFull,
    count,
    loadMore,
    /** Until there are so many, or no more. */
    async loadUpTo(count: number): Promise<void> {
      while ((rows.value?.length ?? 0) < count && !isEnd() && !isFull() && !isClosed) {
        await loadMore()
        if (error.value !== undefined) return
      }
    },
    /** From the beginning; nothing is shown until the answer is there. */
    async reload(): Promise<void> {
      batch(() => {
        turn.value += 1
        loading = undefined
        next = undefined
        rows.value = undefined
        total.value = undefined
      })
      await loadMore()
    },
    find: (key: readonly unknown[]): Row | undefined => rows.value?.[placeOf(key) ?? -1],
    /** As it is now. */
    replace(key: readonly unknown[], now: Row): void {
      const place = placeOf(key)
      if (place === undefined || places === undefined || rows.value === undefined) return
      const next = rows.value.with(place, now)
      places.by.delete(JSON.stringify(key))
      places.by.set(JSON.stringify(keyOf(model, now)), place)
      places = { of: next, by: places.by }
      rows.value = next
    },
    /** Rows that are gone. Where no other is left of those that were loaded, the next page is on its way. */
    drop(keys: readonly (readonly unknown[])[]): void {
      const gone = new Set(keys.map((key) => placeOf(key)))
      const kept = rows.value?.filter((_, place) => !gone.has(place))
      const lost = (rows.value?.length ?? 0) - (kept?.length ?? 0)
      const isMore = kept?.length === 0 && !isEnd()
      batch(() => {
        rows.value = isMore ? undefined : kept
        if (total.value) total.value = { ...total.value, count: Math.max(0, total.value.count - lost) }
      })
      if (isMore) void loadMore()
    },
    close() {
      isClosed = true
    },
  }
}

/** How an item is told from others, and addressed. */
export function keyOf({ key }: CollectionModel, row: Row): readonly unknown[] {
  return key.map((name) => row[name])
}
