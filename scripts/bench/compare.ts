/**
 * Compares two servers under the same load in alternating rounds. The figure is the median of the rounds' ratios, so
 * that a temporarily slow machine affects both sides.
 */
import type { Child } from './child.ts'
import type { LoadOrder, LoadResult } from './load.ts'

export type Side = { readonly port: number; readonly requests: readonly string[] }

export type Comparison = {
  /** First over second: the median of the rounds' ratios. */
  readonly throughputRatio: number
  readonly p99Ratio: number
  /** Medians of the rounds, for each side. */
  readonly perSecond: readonly [number, number]
  readonly p99: readonly [number, number]
}

const CONNECTIONS = 32
const WARM_UP_SECONDS = 1.5
const ROUND_SECONDS = 0.6
const ROUNDS = 25

export async function compare(
  load: Child,
  sides: readonly [Side, Side],
  progress: (text: string) => void,
): Promise<Comparison> {
  const run = ({ port, requests }: Side, seconds: number) =>
    load.ask<LoadResult>({ port, requests, seconds, connections: CONNECTIONS } satisfies LoadOrder)
  for (const side of sides) await run(side, WARM_UP_SECONDS)
  const rounds: [LoadResult, LoadResult][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    progress(`round ${round + 1} of ${ROUNDS}`)
    // The order alternates, so that neither side always runs after the other.
    if (round % 2 === 0) {
      const first = await run(sides[0], ROUND_SECONDS)
      rounds.push([first, await run(sides[1], ROUND_SECONDS)])
    } else {
      const second = await run(sides[1], ROUND_SECONDS)
      rounds.push([await run(sides[0], ROUND_SECONDS), second])
    }
  }
  const both = (pick: (result: LoadResult) => number): readonly [number, number] => [
    median(rounds.map(([first]) => pick(first))),
    median(rounds.map(([, second]) => pick(second))),
  ]
  return {
    throughputRatio: median(rounds.map(([first, second]) => first.perSecond / second.perSecond)),
    p99Ratio: median(rounds.map(([first, second]) => first.p99 / second.p99)),
    perSecond: both(({ perSecond }) => perSecond),
    p99: both(({ p99 }) => p99),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
