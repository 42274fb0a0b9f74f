/**
 * The number from which random tests draw: in the quick tier always the one below, so that what passed for one passes for
 * all; in the full tier drawn anew by each run. SERVICE_TEST_SEED repeats a run. A draw that fails becomes a case with a
 * name of its own before it is mended (docs/testing.md).
 */
import { randomInt } from 'node:crypto'
import { effort } from './effort.ts'

const QUICK = 1_126_072

export function seedOfRun(): number {
  const given = process.env.SERVICE_TEST_SEED
  if (given !== undefined) return Number(given)
  return effort() === 'full' ? randomInt(2 ** 31) : QUICK
}
