import { expect, it } from 'vitest'
import { isLastAdministrator, isLastInstanceAdministrator } from '../../../src/core/access/last-administrator.ts'

const member = { ownerId: null, status: 'active', roles: [{ kind: 'administrator' }], otherAdministrators: 0 } as const
const account = { isService: false, isAdministrator: true, status: 'active', otherAdministrators: 0 } as const

it.each([
  ['the only one', member, true],
  ['one of two', { ...member, otherAdministrators: 1 }, false],
  ['a service account', { ...member, ownerId: 'u' }, false],
  ['suspended', { ...member, status: 'suspended' }, false],
  ['somebody else', { ...member, roles: [{ kind: 'custom' }] }, false],
] as const)('knows the last Administrator of a workspace: %s', (_name, facts, expected) => {
  expect(isLastAdministrator(facts)).toBe(expected)
})

it.each([
  ['the only one', account, true],
  ['one of two', { ...account, otherAdministrators: 1 }, false],
  ['a service account', { ...account, isService: true }, false],
  ['suspended', { ...account, status: 'suspended' }, false],
  ['somebody else', { ...account, isAdministrator: false }, false],
] as const)('knows the last administrator of the instance: %s', (_name, facts, expected) => {
  expect(isLastInstanceAdministrator(facts)).toBe(expected)
})
