/** docs/contract.md#audit-log: no action of the closed list goes without a test over HTTP that reads it back. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { auditActions } from '../../src/core/audit.ts'

it('has a test in the acceptance suite for every audit action', () => {
  const tests = globSync('test/acceptance/*.test.ts').map((file) => readFileSync(file, 'utf8'))

  const unread = Object.keys(auditActions).filter(
    (action) => !tests.some((text) => [`'${action}'`, `=${action}`].some((written) => text.includes(written))),
  )

  expect(unread).toEqual([])
})
