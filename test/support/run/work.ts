/**
 * What something costs, so that neither a slow machine nor a busy one changes the verdict: the work of this process, which
 * no other program lengthens, the least of several times, and only ever beside other work of the same moment.
 */

/** Milliseconds of own work that one run takes at least. */
export function minimumWork(run: () => unknown, rounds = 5): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round += 1) least = Math.min(least, workOf(run))
  return least
}

/** How many times as much work four times as much is: 4 where it grows as the input does, 16 where it grows as its square. */
export function growth(make: (size: number) => () => unknown, size: number): Promise<number> {
  const [small, large] = [make(size), make(4 * size)]
  large()
  return repeatUntilCalm(
    () => minimumWork(large) / minimumWork(small),
    (times) => times < LINEAR,
  )
}

/**
 * The first figures that are as they have to be, or else the last of a few: what is compiled or collected meanwhile, or
 * runs beside us, disturbs one of two measurements at times, but not each time.
 */
export async function repeatUntilCalm<T>(
  measure: () => T | Promise<T>,
  isCalm: (figures: T) => boolean,
  tries = 5,
): Promise<T> {
  const figures = await measure()
  return tries === 1 || isCalm(figures) ? figures : repeatUntilCalm(measure, isCalm, tries - 1)
}

/** What `growth` stays below where something is linear; as far from 4 as from 16. */
export const LINEAR = 8

/** So long that a clock that ticks coarsely, or the end of a collection of garbage, makes no difference. */
const LONG_ENOUGH = 5

function workOf(run: () => unknown): number {
  const start = process.cpuUsage()
  for (let runs = 1; ; runs += 1) {
    run()
    const { user, system } = process.cpuUsage(start)
    const milliseconds = (user + system) / 1_000
    if (milliseconds >= LONG_ENOUGH) return milliseconds / runs
  }
}
