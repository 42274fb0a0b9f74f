/** What the console summarises (console/src/screens/summary), held to what the API takes. */
import { expect, it } from 'vitest'
import { functions, isGroupable, isMeasurable, unitsOf, unitText } from '../../console/src/screens/summary/functions.ts'
import type { FieldType } from '../../src/core/model/field-type.ts'
import type { PrimitiveField } from '../../src/core/model/model.ts'
import { operatorsOf } from '../../src/core/model/operator.ts'
import { aggregateFunctions, plainTypeNames } from '../../src/core/model/vocabulary.ts'
import { isApplicable, isGroupable as isGroup } from '../../src/core/plan/aggregate.ts'
import { truncationUnits } from '../../src/core/query/aggregate-query.ts'

const types = [...plainTypeNames, 'string', 'decimal'] as readonly FieldType['name'][]
const kinds = types.flatMap((name) => [false, true].map((isList) => [{ name } as FieldType, isList] as const))

it('offers each function, group and unit where the API takes it, and nowhere else', () => {
  expect(functions).toEqual(aggregateFunctions)
  for (const [type, isList] of kinds) {
    const field = { type, isList } as PrimitiveField
    const shown = { type: type.name, isList, operators: [...operatorsOf(type, isList)] }
    for (const called of functions) {
      expect(isMeasurable(called, shown), JSON.stringify([called, field])).toBe(isApplicable(called, field))
    }
    expect(isGroupable(shown), JSON.stringify(field)).toBe(isGroup(field))
  }
  const days = truncationUnits.filter((unit) => unit !== 'hour' && unit !== 'minute')
  expect(unitsOf({ type: 'dateTimeWithTimezone', isList: false })).toEqual(truncationUnits)
  expect(unitsOf({ type: 'date', isList: false })).toEqual(days)
  expect([unitsOf({ type: 'date', isList: true }), unitsOf({ type: 'time', isList: false })]).toEqual([[], []])
})

it('names a time by its unit', () => {
  const named = [
    unitText('year', '2026-01-01'),
    unitText('quarter', '2026-10-01'),
    unitText('month', '2026-07-01'),
    unitText('week', '2026-07-06'),
    unitText('hour', '2026-07-06T13:00:00'),
    unitText('year', '-000043-01-01'),
  ]
  expect(named).toEqual(['2026', '2026-Q4', '2026-07', '2026-07-06', '2026-07-06 13:00:00', '-000043'])
})
