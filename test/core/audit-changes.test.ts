/** docs/contract.md#audit-log: what an entry tells of a change has a limit. */
import { expect, it } from 'vitest'
import { auditChanges } from '../../src/core/audit-changes.ts'

it('tells changes up to 50,000 characters, and counts the others', () => {
  const after = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`m${index}`, 'x'.repeat(3_000)]))

  const { changes, changesLeftOut } = auditChanges({}, after)

  expect(changes.length + (changesLeftOut ?? 0)).toBe(100)
  expect(JSON.stringify(changes).length).toBeGreaterThan(45_000)
  expect(JSON.stringify(changes).length).toBeLessThan(51_000)
})

it('cuts no character in two, which the database would refuse', () => {
  const { changes } = auditChanges({}, { name: `${'x'.repeat(3_998)}😀${'x'.repeat(10)}` })

  expect(JSON.stringify(changes).isWellFormed() && !JSON.stringify(changes).includes('\\ud83d')).toBe(true)
})

it('tells nothing where only the order of members or of a list is another', () => {
  const before = { one: { a: 1, b: { c: 2, d: [1, 2] } }, filter: { x: 1, y: 2 } }
  const after = { filter: { y: 2, x: 1 }, one: { b: { d: [2, 1], c: 2 }, a: 1 } }

  expect(auditChanges(before, after)).toEqual({ changes: [] })
})
