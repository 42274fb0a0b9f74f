/**
 * The columns that somebody has chosen for a collection, and how wide they are, kept by this browser: ids of the model, which
 * tell nothing to whoever opens it next.
 */
import { signal } from '@preact/signals'
import { userId } from '../../data/session.ts'
import type { Column } from './columns.ts'
import type { CollectionModel } from './model.ts'
import { ownOf } from './values.ts'

const STORED = 'console.columns'
const WIDTHS = 'console.widths'

/** So many collections; the one that was chosen for longest ago is forgotten. */
const MOST = 200

/** In pixels, by ids of columns. */
export type Widths = Readonly<Record<string, number>>

type Remembered<T> = Readonly<Record<string, T>>

const all = signal<Remembered<readonly string[]>>(read(STORED))
const widths = signal<Remembered<Widths>>(read(WIDTHS))

function read<T>(name: string): Remembered<T> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Remembered<T>) : {}
  } catch {
    return {}
  }
}

const placeOf = (model: CollectionModel) => `${userId.value} ${model.id}`

/** Ids of columns; undefined where nothing was chosen. */
export function rememberedColumns(model: CollectionModel, columns: readonly Column[]): readonly string[] | undefined {
  const kept = all.value[placeOf(model)]
  if (model.id === '' || !Array.isArray(kept)) return undefined
  const found = kept.flatMap((of) => columns.find((column) => column.of === of)?.id ?? [])
  return found.length > 0 ? found : undefined
}

/** Undefined forgets. */
export function rememberColumns(model: CollectionModel, columns: readonly Column[] | undefined): void {
  if (model.id === '' || columns?.some(({ of }) => of === '')) return
  const own = columns?.map(({ of }) => of)
  all.value = remembered(all.value, placeOf(model), own)
  localStorage.setItem(STORED, JSON.stringify(all.value))
}

function remembered<T>(before: Remembered<T>, place: string, own: T | undefined): Remembered<T> {
  const others = Object.entries(before).filter(([one]) => one !== place)
  return Object.fromEntries([...others, ...(own === undefined ? [] : [[place, own] as const])].slice(-MOST))
}

const [NARROWEST, WIDEST] = [48, 1_200]

export function widthsOf(model: CollectionModel): Widths {
  return widths.value[placeOf(model)] ?? {}
}

export function sized(columns: readonly Column[], own: Widths): readonly Column[] {
  return columns.map((column) => {
    const width = column.of === '' ? undefined : ownOf(own, column.of)
    return typeof width === 'number' ? { ...column, width, isSized: true } : column
  })
}

/** Undefined is the width by the type. */
export function rememberWidth(model: CollectionModel, { of }: Column, width: number | undefined): void {
  if (model.id === '' || of === '') return
  const { [of]: _, ...others } = widthsOf(model)
  const own = width === undefined ? others : { ...others, [of]: Math.max(NARROWEST, Math.min(WIDEST, width)) }
  widths.value = remembered(widths.value, placeOf(model), own)
  localStorage.setItem(WIDTHS, JSON.stringify(widths.value))
}
