/** How many cases and kill points random tests draw, in each tier. */
import { effort } from './effort.ts'

/**
 * How many cases a random test draws: SERVICE_TEST_CASES, or `usual` in the full tier and a tenth of it in the quick one, but
 * `least` of them where a test demands that each of several kinds was drawn. Of cases that take long each, the quick tier draws
 * a smaller `share`.
 */
export function casesOr(usual: number, { least = 1, share = 1 / 10 } = {}): number {
  const given = process.env.SERVICE_TEST_CASES
  if (given !== undefined) return Number(given)
  return effort() === 'full' ? usual : Math.max(Math.ceil(usual * share), least)
}

/** The cases of a table: all in the full tier, the first `least` in the quick one. */
export function firstOf<T>(cases: readonly T[], least: number): readonly T[] {
  return effort() === 'full' ? cases : cases.slice(0, least)
}

/** At how many moments a program is killed: SERVICE_TEST_ROUNDS, or `usual` in the full tier and three in the quick one. */
export function roundsOr(usual: number): number {
  const given = process.env.SERVICE_TEST_ROUNDS
  if (given !== undefined) return Number(given)
  return effort() === 'full' ? usual : Math.min(usual, 3)
}
