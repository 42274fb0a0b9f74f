import { expect, it } from 'vitest'
import { createKnownCallers } from '../../src/services/caller/known-callers.ts'

const of = (workspaceId: string, version = 1) => ({ workspaceId, version })
const policy = (name: string) => ({ entitlements: [], collections: { [name]: { read: 'all' as const } } })
const text = (name: string) => JSON.stringify(policy(name))

it('knows a caller until the version of rights is another', () => {
  const known = createKnownCallers<string>({})
  known.set(of('shop'), 'token', 'mine', 0)
  known.set(of('lab'), 'token', 'theirs', 0)

  expect([known.get('shop', 'token'), known.get('lab', 'token'), known.get('shop', 'other')]).toEqual([
    'mine',
    'theirs',
    undefined,
  ])
  known.set(of('shop', 2), 'later', 'new', 0)
  known.set(of('shop', 1), 'late', 'old', 0)
  expect(['token', 'later', 'late'].map((token) => known.get('shop', token))).toEqual([undefined, 'new', undefined])
  known.forget('shop')
  expect([known.get('shop', 'later'), known.get('lab', 'token')]).toEqual([undefined, 'theirs'])
})

it('keeps the callers of a workspace that come, as far as all of them together have room', () => {
  const known = createKnownCallers<number>({ mostCallers: 40_000 })
  known.set(of('shop'), 'used', 0, 0)
  known.set(of('shop'), 'idle', 0, 0)
  for (let index = 1; index <= 20; index += 1) {
    known.set(of('shop'), `large ${index}`, index, 10_000)

    expect(known.get('shop', 'used')).toBe(0)
  }
  expect(['idle', 'large 1', 'large 20'].map((token) => known.get('shop', token))).toEqual([undefined, undefined, 20])
})

it('reads a policy once, whoever has it and also after a change of rights, each workspace its own', () => {
  const known = createKnownCallers<string>({})
  const first = known.reader(of('shop'))(text('a'))

  expect(first).toEqual(policy('a'))
  expect(known.reader(of('shop'))(text('a'))).toBe(first)
  expect(known.reader(of('shop', 2))(text('a'))).toBe(first)
  expect(known.reader(of('shop', 1))(text('a'))).toEqual(first)
  expect(known.reader(of('lab'))(text('a'))).not.toBe(first)
  known.reader(of('shop', 3))(text('b'))
  known.reader(of('shop', 4))(text('b'))
  expect(known.reader(of('shop', 4))(text('a'))).not.toBe(first)
})

it('forgets the workspaces that nobody has come to where all policies together are long', () => {
  const length = text('a').length
  const known = createKnownCallers<string>({ mostPolicies: 3 * length })
  const [shop, lab] = [known.reader(of('shop'))(text('a')), known.reader(of('lab'))(text('a'))]
  known.set(of('shop'), 'token', 'mine', 0)
  known.reader(of('shop'))(text('b'))
  known.reader(of('yard'))(text('a'))

  expect(known.reader(of('shop'))(text('a'))).toBe(shop)
  expect(known.get('shop', 'token')).toBe('mine')
  expect(known.reader(of('lab'))(text('a'))).not.toBe(lab)
})
