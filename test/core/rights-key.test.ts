/** Documents are kept by the rights of their readers, whose policies may have megabytes: the key is short. */
import { expect, it } from 'vitest'
import type { PolicyContent } from '../../src/core/access/policy.ts'
import type { Rights } from '../../src/core/access/principal.ts'
import { rightsKey } from '../../src/services/documents/rights-key.ts'

const policy = (value: string): PolicyContent => ({
  entitlements: [],
  collections: { '5d1c3a7e-52a3-4f4e-9a57-0d5a1f2b3c4d': { read: { filter: { name: { _eq: value } } } } } as never,
})

const rights = (...policies: readonly PolicyContent[]): Rights => ({
  kind: 'policies',
  userId: '0190a8c2-6b1e-7c3d-8e4f-5a6b7c8d9e0f',
  roleIds: [],
  policies,
  entitlements: new Set(['dataModel:read']),
})

it('is the same for the same rights, however they were read, and short', async () => {
  const long = 'x'.repeat(1_000_000)

  const key = await rightsKey(rights(policy(long), policy('b')))

  expect(await rightsKey(rights(policy(long), policy('b')))).toBe(key)
  expect(key.length).toBeLessThan(300)
})

it('is another one for other rights', async () => {
  const narrowed = (actions: readonly string[]): Rights =>
    ({
      kind: 'scoped',
      rights: rights(policy('a')),
      entitlements: undefined,
      collections: new Map([['5d1c3a7e-52a3-4f4e-9a57-0d5a1f2b3c4d', new Set(actions)]]),
    }) as never
  const all: readonly Rights[] = [
    { kind: 'all' },
    rights(),
    rights(policy('a')),
    rights(policy('b')),
    rights(policy('a'), policy('b')),
    { ...rights(policy('a')), userId: undefined } as Rights,
    narrowed(['read']),
    narrowed(['read', 'create']),
  ]

  const keys = await Promise.all(all.map(rightsKey))

  expect(new Set(keys).size).toBe(all.length)
})

it('is the same for scopes that say the same in another order, or give what the rights lack', async () => {
  const scoped = (...entitlements: readonly string[]): Rights =>
    ({
      kind: 'scoped',
      rights: rights(policy('a')),
      entitlements: new Set(entitlements),
      collections: undefined,
    }) as never

  const keys = await Promise.all(
    [scoped('dataModel:read', 'ai:mcp'), scoped('ai:mcp', 'dataModel:read'), scoped('dataModel:read')].map(rightsKey),
  )

  expect(new Set(keys).size).toBe(1)
  expect(await rightsKey(scoped())).not.toBe(keys[0])
})
