/**
 * The columns that somebody has chosen for a collection, kept by this browser: ids of the model, which tell nothing to
 * whoever opens it next.
 */
import { signal } from '@preact/signals'
import { userId } from '../../data/session.ts'
import type { Column } from './columns.ts'
import type { CollectionModel } from './model.ts'

const STORED = 'console.columns'

/** So many collections; the one that was chosen for longest ago is forgotten. */
const MOST = 200

type Remembered = Readonly<Record<string, readonly string[]>>

const all = signal<Remembered>(read())

function read(): Remembered {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORED) ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Remembered) : {}
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
  const others = Object.entries(all.value).filter(([place]) => place !== placeOf(model))
  const own = columns === undefined ? [] : [[placeOf(model), columns.map(({ of }) => of)] as const]
  all.value = Object.fromEntries([...others, ...own].slice(-MOST))
  localStorage.setItem(STORED, JSON.stringify(all.value))
}
