/** docs/contract.md#audit-log: every action of the closed list is recorded, and a test over HTTP reads it back. */
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

it('has no audit action that nothing records', () => {
  const services = globSync(['src/services/**/*.ts', 'src/store/schema/*.ts']).map((file) => readFileSync(file, 'utf8'))

  // A family whose verbs are one parameter is written as a template.
  const unrecorded = Object.keys(auditActions).filter((action) => {
    const written = [`'${action}'`, `\`${action.split('.')[0]}.$\{verb}.v1\``]
    return !services.some((text) => written.some((name) => text.includes(name)))
  })

  expect(unrecorded).toEqual([])
})
