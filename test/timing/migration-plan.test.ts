/** A migration of many collections: what it takes to plan it grows as their number does. */
import { expect, it } from 'vitest'
import { createCollection, field, migrate, workspace } from '../core/migration/build.ts'
import { growth, LINEAR } from '../support/run/work.ts'

it('grows linearly: 1,000 collections of 20 fields', async () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, number) => {
      const fields = Array.from({ length: 20 }, (_, position) =>
        field(`${number}.${position}`, 'string', { dbName: `f${position}`, apiName: undefined }),
      )
      return createCollection(String(number), fields, { apiName: undefined })
    })

  const { records } = migrate(workspace, ...many(1_000))
  const times = await growth((count) => {
    const operations = many(count)
    return () => migrate(workspace, ...operations)
  }, 60)

  expect([records.collections.length, records.primitiveFields.length]).toEqual([1_000, 20_000])
  expect(times).toBeLessThan(LINEAR)
})
