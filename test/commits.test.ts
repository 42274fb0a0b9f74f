/** Subjects of commits fit the 72 characters that `git log` and code hosts show. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Older subjects were not held to it. */
const SINCE = '2026-11-22T18:00:00Z'

const LONGEST = 72

it('every commit has a subject of at most 72 characters', () => {
  expect(subjects().filter((subject) => subject.length > LONGEST)).toEqual([])
})

/** None where the sources come without their history; of a shallow clone those that it has. */
function subjects(): readonly string[] {
  if (!existsSync('.git')) return []
  return execFileSync('git', ['log', '--no-merges', `--since=${SINCE}`, '--format=%s'], { encoding: 'utf8' })
    .split('\n')
    .filter((subject) => subject !== '')
}
