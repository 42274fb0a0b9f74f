/** Which values of a numeric type can be changed by an amount without leaving the type's range. */
import { integers } from './codec/number.ts'
import type { FieldType } from './field-type.ts'

export type Range = {
  /** Whether the change is upwards: values up to the bound can take it, otherwise values from it on. */
  readonly isUp: boolean
  /** Undefined where no value can. */
  readonly bound: string | undefined
  /** Values that stay what they are. */
  readonly fixedValues: readonly string[]
}

/** `amount` is a canonical text. Undefined where every value can take it, or only the database knows. */
export function rangeOf(type: FieldType, amount: string): Range | undefined {
  const isUp = !amount.startsWith('-')
  if (isInteger(type.name)) {
    const { low, high } = limitsOf(type.name)
    const bound = (isUp ? high : low) - BigInt(amount)
    return { isUp, bound: bound < low || bound > high ? undefined : String(bound), fixedValues: [] }
  }
  if (type.name === 'decimal') {
    return type.params.kind === 'unconstrained' ? undefined : decimalRange(type.params, amount, isUp)
  }
  if (!isFloat(type.name)) return undefined
  const most = type.name === 'float32' ? MAX_SINGLE : Number.MAX_VALUE
  return { isUp, bound: String((isUp ? most : -most) - Number(amount)), fixedValues: special }
}

export function isInteger(name: FieldType['name']): name is keyof typeof integers {
  return name in integers
}

export function isFloat(name: FieldType['name']): boolean {
  return name.startsWith('float')
}

function limitsOf(name: keyof typeof integers): { readonly low: bigint; readonly high: bigint } {
  const { lowDigits, highDigits } = integers[name]
  return { low: -BigInt(lowDigits), high: BigInt(highDigits) }
}

const MAX_SINGLE = 3.4028234663852886e38
const special = ['NaN', 'Infinity', '-Infinity']

/** In units of the last digit. A scale below zero counts whole digits that are zeros. */
function decimalRange(
  { precision, scale }: { readonly precision: number; readonly scale: number },
  amount: string,
  isUp: boolean,
): Range {
  const digits = Math.max(scale, 0)
  const [whole = '', fraction = ''] = amount.replace('-', '').split('.')
  const size = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  const most = (10n ** BigInt(precision) - 1n) * 10n ** BigInt(Math.max(-scale, 0))
  const bound = most - size
  if (bound < -most) return { isUp, bound: undefined, fixedValues: special }
  const text = String(bound < 0n ? -bound : bound).padStart(digits + 1, '0')
  const isNegative = isUp ? bound < 0n : bound > 0n
  const point = text.length - digits
  const shown = digits === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`
  return { isUp, bound: isNegative ? `-${shown}` : shown, fixedValues: special }
}
