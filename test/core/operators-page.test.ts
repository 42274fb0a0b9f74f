/** docs/operators.md is generated from the table that the service goes by. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { operatorsPage } from '../../scripts/generate-docs.ts'

it('docs/operators.md is current', () => {
  expect(readFileSync('docs/operators.md', 'utf8')).toBe(operatorsPage())
})
