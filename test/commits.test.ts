/** Subjects of commits fit the 72 characters that `git log` and code hosts show, and begin with what kind of change it is. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Older subjects were not held to it. */
const SINCE = '2026-11-22T18:00:00Z'

const LONGEST = 72

const KINDS_SINCE = '2026-11-23T04:15:00Z'
const KIND = /^(feat|fix|refactor|perf|test|docs|chore)(\([\w ,/-]+\))?: /

it('every commit has a subject of at most 72 characters', () => {
  expect(subjects(SINCE).filter((subject) => subject.length > LONGEST)).toEqual([])
})

it('every commit says its kind and what now holds, as CONTRIBUTING.md has it', () => {
  expect(subjects(KINDS_SINCE).filter((subject) => !KIND.test(subject))).toEqual([])
})

/** None where the sources come without their history; of a shallow clone those that it has. */
function subjects(since: string): readonly string[] {
  if (!existsSync('.git')) return []
  return execFileSync('git', ['log', '--no-merges', `--since=${since}`, '--format=%s'], { encoding: 'utf8' })
    .split('\n')
    .filter((subject) => subject !== '')
}
