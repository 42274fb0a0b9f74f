/**
 * The number from which random tests draw: of a commit always the same, so that what passed for one who tried it passes
 * for all, and what failed can be repeated; another for each commit. Where files have changes that are not committed,
 * and outside of a repository, it is drawn.
 */
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'

export function seedOfRun(): number {
  const given = process.env.SERVICE_TEST_SEED
  return given === undefined ? (seedOfCommit() ?? randomInt(END)) : Number(given)
}

const END = 2 ** 31

function seedOfCommit(): number | undefined {
  try {
    if (git('status', '--porcelain') !== '') return undefined
    return Number.parseInt(git('rev-parse', 'HEAD^{tree}').slice(0, 8), 16) % END
  } catch {
    return undefined
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}
