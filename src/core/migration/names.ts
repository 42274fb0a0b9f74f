/**
 * Chooses API names for what an introspection finds. Each table or column has candidates, from the shortest to the most
 * specific. All that would get the same name move on to their next candidates together, so that no name depends on an order. If
 * the last candidates are equal too, the first candidate gets a number.
 */
import { cutName, uniqueName } from './derive.ts'

export type Unnamed = {
  readonly candidates: readonly string[]
  /** Identifies the table or column in the database: numbers are assigned in this order. */
  readonly rank: string
}

/** Returns a name for each thing, none of them in `taken`. */
export function chooseNames<T extends Unnamed>(
  things: readonly T[],
  taken: ReadonlySet<string>,
): ReadonlyMap<T, string> {
  const levels = new Map(things.map((thing) => [thing, 0]))
  const nameOf = (thing: T) => cutName(thing.candidates[levels.get(thing) ?? 0] ?? '')
  for (;;) {
    const alike = [...Map.groupBy(things, nameOf)].filter(([name, those]) => those.length > 1 || taken.has(name))
    const unclear = alike.flatMap(([, those]) => those)
    const movable = unclear.filter((thing) => (levels.get(thing) ?? 0) < thing.candidates.length - 1)
    for (const thing of movable) levels.set(thing, (levels.get(thing) ?? 0) + 1)
    if (movable.length === 0) return numbered(new Map(things.map((thing) => [thing, nameOf(thing)])), unclear, taken)
  }
}

/** Joins names in camelCase: `messages`, `By`, `fromUser`. */
export function joinNames(first: string, ...rest: readonly string[]): string {
  return [first, ...rest.map((name) => name.charAt(0).toUpperCase() + name.slice(1))].join('')
}

function numbered<T extends Unnamed>(
  names: ReadonlyMap<T, string>,
  unclear: readonly T[],
  taken: ReadonlySet<string>,
): ReadonlyMap<T, string> {
  const unsettled = new Set(unclear)
  const used = new Set([...taken, ...[...names].flatMap(([thing, name]) => (unsettled.has(thing) ? [] : [name]))])
  const numbers = new Map<T, string>()
  for (const thing of [...unclear].sort((one, other) => (one.rank < other.rank ? -1 : 1))) {
    const name = uniqueName(thing.candidates[0] ?? '', (candidate) => used.has(candidate))
    used.add(name)
    numbers.set(thing, name)
  }
  return new Map([...names].map(([thing, name]) => [thing, numbers.get(thing) ?? name]))
}
