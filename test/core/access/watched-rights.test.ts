/** Which rights an answer under a key rests on (docs/contract.md#idempotency). */
import { expect, it } from 'vitest'
import { granted } from '../../../src/core/access/access.ts'
import type { Collection } from '../../../src/core/model/model.ts'
import { all, none } from '../../../src/core/query/filter.ts'
import { watched } from '../../../src/services/data/once/rights.ts'
import { articles } from '../plan/blog.ts'

const grant = { rows: all, fields: 'every', validation: all } as const

const digestOf = (own: typeof grant | object, of: Collection = articles) => {
  const access = granted([{ ...grant, ...own }])
  const { viewer, digest } = watched({ accessTo: () => access, seesModel: true })
  viewer.accessTo(of, 'update')
  return digest()
}

it.each([
  ['rows', { rows: none }],
  ['fields', { fields: new Set(['title']) }],
  ['a check', { check: none }],
  ['a validation', { validation: none }],
])('are others with other %s', async (_, changed) => {
  expect(await digestOf(grant)).toBe(await digestOf({}))
  expect(await digestOf(changed)).not.toBe(await digestOf(grant))
})
