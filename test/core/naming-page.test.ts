/** docs/names.md is made by the code that names what an introspection finds. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { namingPage } from '../../scripts/naming-page.ts'

it('docs/names.md is current', () => {
  expect(readFileSync('docs/names.md', 'utf8')).toBe(namingPage())
})
