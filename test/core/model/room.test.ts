import { expect, it } from 'vitest'
import { requireRoom } from '../../../src/core/model/room.ts'
import { build } from '../../support/data/build.ts'

const { records } = build.model({ shops: { id: 'int32', name: 'string' } })
const [, name] = records.primitiveFields
const withFields = (count: number) => ({
  ...records,
  primitiveFields: Array.from(
    { length: count },
    (_, at) => ({ ...name, id: `f${at}`, dbName: `c${at}` }) as typeof name & object,
  ),
})

it('lets a model be as large as a process can load, and whatever does not add to it', () => {
  expect(() => requireRoom(records, withFields(150_000))).not.toThrow()
  expect(() => requireRoom(records, withFields(180_000))).toThrow('at most 41943040 characters')
  expect(() => requireRoom(withFields(180_001), withFields(180_000))).not.toThrow()
})
