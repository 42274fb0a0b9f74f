/** With a test that fails stands what the server told its operator meanwhile: callers are not told why something is a 500. */
import { readFileSync, statSync } from 'node:fs'
import { afterEach, beforeEach, inject } from 'vitest'

const { logFile } = inject('served')
const MOST = 10

let before = 0

beforeEach(() => {
  before = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
})

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return
  const lines = readFileSync(logFile).subarray(before).toString().split('\n')
  const faults = lines.filter((line) => line.includes('"kind":"fault"')).slice(0, MOST)
  if (faults.length > 0) console.error(`${task.name}: meanwhile the server had\n${faults.join('\n')}`)
})
