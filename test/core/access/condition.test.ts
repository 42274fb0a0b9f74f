/** How stored filters are split into conditions, so that one can be compared with another. */
import { expect, it } from 'vitest'
import { conditionsOf, equivalentForms } from '../../../src/core/access/condition.ts'

const me = { userId: 'me', roleIds: ['role'] }
const formsOf = (tree: Readonly<Record<string, unknown>>) =>
  conditionsOf(tree).flatMap((condition) => equivalentForms(condition, me))

it('splits the operators of a field, but none from the path that it stands beside', () => {
  expect(conditionsOf({ f: { _gt: 1, _lt: 5 } }).map(({ text }) => text)).toEqual([
    '{"f":{"_gt":1}}',
    '{"f":{"_lt":5}}',
  ])
  expect(conditionsOf({ f: { _path: ['a'], _gt: 1, _lt: 5 } }).map(({ text }) => text)).toEqual([
    '{"f":{"_gt":1,"_lt":5,"_path":["a"]}}',
  ])
})

it('binds variables in lists of operands and beside a path, and nowhere inside of JSON', () => {
  expect(formsOf({ f: { _has_any: ['$CURRENT_ROLES', 'x'] } })).toEqual(['{"f":{"_has_any":["role","x"]}}'])
  expect(formsOf({ f: { _has: '$CURRENT_USER' } })).toEqual(['{"f":{"_has":"me"}}', '{"f":{"_has":"$CURRENT_USER"}}'])
  expect(formsOf({ f: { _path: ['$CURRENT_USER'], _eq: 'x' } })).toEqual([
    '{"f":{"_eq":"x","_path":["$CURRENT_USER"]}}',
  ])
  expect(formsOf({ f: { _contains: ['$CURRENT_USER'] } })).toEqual(['{"f":{"_contains":["$CURRENT_USER"]}}'])
})
