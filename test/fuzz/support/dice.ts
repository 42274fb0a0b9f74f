/** Chance that repeats: one seed, printed by the test that throws, gives the same throws again. */
export type Dice = {
  /** A whole number from 0 to below `end`. */
  readonly below: (end: number) => number
  /** True once in `times`. */
  readonly once: (times: number) => boolean
  /** The same for what makes a request wrong; never where the dice are calm. */
  readonly spoils: (times: number) => boolean
  /** The same throws without spoiling. */
  readonly calm: () => Dice
  readonly pick: <T>(list: readonly [T, ...T[]] | readonly T[]) => T
  /** Between 0 and `most` things. */
  readonly some: <T>(most: number, make: (index: number) => T) => readonly T[]
}

export const seed = Number(process.env.SERVICE_TEST_SEED)

/** Mulberry32. */
export function createDice(start: number): Dice {
  let state = start
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  const once = (times: number) => next() * times < 1
  const dice: Dice = {
    below,
    once,
    spoils: once,
    calm: () => ({ ...dice, spoils: () => false }),
    pick: <T>(list: readonly T[]) => {
      if (list.length === 0) throw new Error('there is nothing to pick from')
      return list[below(list.length)] as T
    },
    some: (most, make) => Array.from({ length: below(most + 1) }, (_, index) => make(index)),
  }
  return dice
}
