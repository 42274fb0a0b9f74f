/** The rows of a grid that are chosen for what is done to several at once, by their keys. None is, once they are read from the beginning. */
import { computed, signal } from '@preact/signals'
import type { CollectionModel } from './model.ts'
import { keyOf, type Rows } from './rows.ts'
import type { Row } from './values.ts'

type Key = readonly unknown[]
type Keys = ReadonlyMap<string, Key>

const none: Keys = new Map()

export type Marks = ReturnType<typeof createMarks>

export function createMarks(model: CollectionModel, rows: Rows) {
  const marked = signal({ turn: 0, keys: none })
  const keys = computed(() => (marked.value.turn === rows.turn.value ? marked.value.keys : none))
  const mark = (next: Keys) => {
    marked.value = { turn: rows.turn.value, keys: next }
  }
  const idOf = (row: Row) => JSON.stringify(keyOf(model, row))
  return {
    keys,
    has: (row: Row) => keys.value.has(idOf(row)),
    /** Chooses these; those that all are chosen are no more. */
    turn(from: number, to: number): void {
      const turned = rows.rows.value?.slice(from, to) ?? []
      const next = new Map(keys.value)
      if (turned.every((row) => next.has(idOf(row)))) for (const row of turned) next.delete(idOf(row))
      else for (const row of turned) next.set(idOf(row), keyOf(model, row))
      mark(next)
    },
    add(from: number, to: number): void {
      const added = rows.rows.value?.slice(from, to) ?? []
      mark(new Map([...keys.value, ...added.map((row) => [idOf(row), keyOf(model, row)] as const)]))
    },
    drop(gone: readonly Key[]): void {
      const next = new Map(keys.value)
      for (const key of gone) next.delete(JSON.stringify(key))
      mark(next)
    },
    clear(): void {
      mark(none)
    },
  }
}
