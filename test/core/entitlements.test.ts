/** docs/contract.md#policies: the entitlements of a workspace, what asks for them, and a test over HTTP for each. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { entitlementSchema } from '../../src/core/access/entitlement.ts'

const names = entitlementSchema().options
const [said = ''] = /Entitlements of a workspace: [^.]+\./.exec(readFileSync('docs/contract.md', 'utf8')) ?? []

it('has those that the specification lists', () => {
  // `workspace:read|edit` is two of them.
  const listed = [...said.matchAll(/`(\w+):([\w|]+)`/g)].flatMap(([, family, verbs = '']) =>
    verbs.split('|').map((verb) => `${family}:${verb}`),
  )

  expect(listed.toSorted()).toEqual([...names].sort())
})

it('has none that nothing asks for or no acceptance test grants', () => {
  const services = textsOf('src/{core/access,services}/**/*.ts').filter((text) => !text.includes('entitlementSchema ='))
  const tests = textsOf('test/acceptance/*.test.ts')

  const unused = names.filter(
    (name) => ![services, tests].every((texts) => texts.some((text) => text.includes(`'${name}'`))),
  )

  expect(unused).toEqual([])
})

function textsOf(pattern: string): readonly string[] {
  return globSync(pattern).map((file) => readFileSync(file, 'utf8'))
}
