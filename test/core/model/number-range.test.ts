/** Which values can take an amount without leaving the range of their type, against the codec of that type. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeJson } from '../../../src/core/model/codec.ts'
import type { FieldType } from '../../../src/core/model/field-type.ts'
import { rangeOf } from '../../../src/core/model/number-range.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'

const decimal = (precision: number, scale: number): FieldType => {
  return { name: 'decimal', params: { kind: 'constrained', precision, scale } }
}

const types: readonly FieldType[] = [
  { name: 'int8' },
  { name: 'int16' },
  { name: 'uint8' },
  { name: 'uint16' },
  decimal(3, 0),
  decimal(4, 2),
  decimal(2, 2),
  decimal(3, 4),
  decimal(2, -1),
]

/** A value of the type, in units of its last digit. */
function unitsOf(type: FieldType): { readonly scale: number; readonly unit: number } {
  const scale = type.name === 'decimal' && type.params.kind === 'constrained' ? type.params.scale : 0
  return { scale: Math.max(scale, 0), unit: 10 ** Math.max(-scale, 0) }
}

const textOf = (units: number, scale: number) => {
  const digits = String(Math.abs(units)).padStart(scale + 1, '0')
  const shown = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return units < 0 ? `-${shown}` : shown
}

it.each(types)('admits the values of %j whose sum is one of them', (type) => {
  const { scale, unit } = unitsOf(type)
  const isValue = (units: number) => {
    const text = textOf(units * unit, scale)
    return 'ok' in decodeJson(type, false, type.name === 'decimal' ? text : Number(text))
  }
  const near = fc.integer({ min: -12_000, max: 12_000 })
  const some = type.name.endsWith('16') ? fc.integer({ min: -70_000, max: 70_000 }) : near

  fc.assert(
    fc.property(some, some, (value, amount) => {
      fc.pre(isValue(value))
      const range = rangeOf(type, textOf(amount * unit, scale))
      const bound = range?.bound === undefined ? undefined : Number(range.bound)
      const own = Number(textOf(value * unit, scale))
      const isAdmitted = bound !== undefined && (range?.isUp ? own <= bound : own >= bound)
      expect(isAdmitted).toBe(isValue(value + amount))
    }),
    { seed, numRuns: casesOr(2_000) },
  )
})
