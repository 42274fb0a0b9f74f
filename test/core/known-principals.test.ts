import { expect, it } from 'vitest'
import { createKnownPrincipals } from '../../src/services/caller/known-principals.ts'

it('keeps what is used, as far as all of it together has room', () => {
  const known = createKnownPrincipals<string>({ maxWeight: 40_000 })
  known.set('shop', 'used', 'mine', 5_000)
  known.set('shop', 'idle', 'theirs', 5_000)
  known.set('lab', 'used', 'of the lab', 100)
  for (let index = 0; index < 20; index += 1) {
    known.set('shop', `large ${index}`, 'large', 10_000)

    expect(known.get('shop', 'used')).toBe('mine')
    expect(known.get('lab', 'used')).toBe('of the lab')
  }
  expect(known.get('shop', 'idle')).toBeUndefined()
  expect(known.get('shop', 'large 0')).toBeUndefined()
  expect(known.get('shop', 'large 19')).toBe('large')
})

it('forgets a workspace', () => {
  const known = createKnownPrincipals<string>({})
  known.set('shop', 'token', 'mine', 1)
  known.set('lab', 'token', 'theirs', 1)
  known.forget('shop')

  expect([known.get('shop', 'token'), known.get('lab', 'token')]).toEqual([undefined, 'theirs'])
})
