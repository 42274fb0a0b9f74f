/** docs/configuration.md says what src/config.ts reads. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configurationPage } from '../../scripts/generate-docs.ts'
import { readConfig, variables } from '../../src/config.ts'

it('is documented by a page that is current', () => {
  expect(readFileSync('docs/configuration.md', 'utf8')).toBe(configurationPage())
})

it('has the documented value of each default', () => {
  const defaults = [...configurationPage().matchAll(/^\| `(\w+)` \| `(.+?)` \|/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ])

  const documented = readConfig(Object.fromEntries(defaults))
  const empty = readConfig({})

  expect(defaults.length).toBeGreaterThan(0)
  expect(documented).toEqual(empty)
})

it('has every variable in the page', () => {
  const documented = [...configurationPage().matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)

  expect(documented).toEqual(Object.keys(variables))
})
