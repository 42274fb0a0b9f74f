/**
 * What was typed and is not saved yet, by who typed it and where. This browser keeps it, so that it outlives a reload and a tab
 * that was closed, until it is saved, discarded, or its author signs out.
 */
import { effect, type Signal, signal } from '@preact/signals'

const STORED = 'console.unsaved '

type Kept = { readonly value: Signal<object>; readonly empty: object }

const all = new Map<string, Kept>()

/** The same signal for the same place; `empty` is what it has where nothing is typed, and of what kind it is. */
export function unsavedAt<T extends object>(place: readonly unknown[], empty: T): Signal<T> {
  const id = STORED + JSON.stringify(place)
  const known = all.get(id)
  if (known !== undefined) return known.value as Signal<T>
  const value = signal<T>(stored(id, empty))
  all.set(id, { value, empty })
  effect(() => store(id, value.value))
  return value
}

function stored<T extends object>(id: string, empty: T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(id) ?? 'null')
    const isOfKind = typeof value === 'object' && value !== null && Array.isArray(value) === Array.isArray(empty)
    return isOfKind ? (value as T) : empty
  } catch {
    return empty
  }
}

/** What the browser has no room for is kept by the page alone. */
function store(id: string, value: object): void {
  try {
    if (Object.keys(value).length === 0) localStorage.removeItem(id)
    else localStorage.setItem(id, JSON.stringify(value))
  } catch {
    localStorage.removeItem(id)
  }
}

const forgetting = new Set<() => void>()

/** `forget` is called with `forgetUnsaved`, by whoever holds something else of an author. */
export function whenForgotten(forget: () => void): void {
  forgetting.add(forget)
}

/** Of everybody who has used this browser. */
export function forgetUnsaved(): void {
  for (const forget of forgetting) forget()
  for (const { value, empty } of all.values()) value.value = empty
  for (const id of Object.keys(localStorage)) if (id.startsWith(STORED)) localStorage.removeItem(id)
}
