/**
 * What becomes of the values of a field that gets another type: one table, for the form that asks for it and for the review
 * that says it, held to the service by test/core/console-values.test.ts.
 */

export type ValueType = { readonly name: string; readonly params?: Readonly<Record<string, unknown>> }

/**
 * `kept` and `written` (as texts) are so for every value; of the others one that does not fit keeps the change from being made.
 * `read` forgets how a text was written, `zone` takes times to be UTC.
 */
export type Outcome = 'kept' | 'written' | 'refused' | 'read' | 'zone'

/** Undefined where the service makes no such change, since values would be rounded or cut. */
export function outcomeOf(from: ValueType, to: ValueType, isList: boolean): Outcome | undefined {
  const [before, after] = [from.name, to.name]
  if (isSame(from, to)) return 'kept'
  if ([before, after].some((name) => name === 'bytes' || name === 'geometry')) return undefined
  if (after === 'string') {
    if (before === 'string') return lengthOf(from) <= lengthOf(to) ? 'kept' : 'refused'
    return lengthOf(to) === Number.POSITIVE_INFINITY ? 'written' : undefined
  }
  if (before === 'string') return readable.test(after) && precisionOf(to) === undefined ? 'read' : undefined
  if (after === 'decimal') {
    const isExact = before === 'decimal' ? scaleOf(from) <= scaleOf(to) : isInteger(before)
    return isExact ? fitting(wholeOf(from) <= wholeOf(to)) : undefined
  }
  if (isInteger(before)) {
    if (isInteger(after)) return fitting(isWithin(before, after))
    return bitsOf(before) <= (exactBits[after] ?? 0) ? 'kept' : undefined
  }
  if (before === 'date' && after === 'dateTime') return 'refused'
  if (zones[before]?.includes(after)) return isList ? undefined : 'zone'
  return before === 'float32' && after === 'float64' ? 'kept' : undefined
}

/** A type as the model file writes it, such as `string(80)[]?`; undefined for what is none. */
export function typeIn(
  text: string,
): (ValueType & { readonly isList: boolean; readonly isNullable: boolean }) | undefined {
  const [, name, first, second, list, optional] =
    /^([a-zA-Z]\w*)(?:\((\d+)(?:,\s*(\d+))?\))?(\[\])?(\?)?(?: (?:auto|always|update))?$/.exec(text) ?? []
  if (name === undefined) return undefined
  const bounds = second === undefined ? { value: Number(first) } : { precision: Number(first), scale: Number(second) }
  const of = { isList: list !== undefined, isNullable: optional !== undefined }
  return first === undefined ? { name, ...of } : { name, params: bounds, ...of }
}

/** What a text can be read as without loss. */
const readable = /^(u?int\d+|uuid|boolean|json|decimal)$/
/** Of the largest whole numbers that a float represents exactly. */
const exactBits: Readonly<Record<string, number>> = { float32: 24, float64: 53 }
const zones: Readonly<Record<string, readonly string[]>> = {
  date: ['dateTimeWithTimezone'],
  dateTime: ['dateTimeWithTimezone'],
  dateTimeWithTimezone: ['dateTime'],
}

const fitting = (isEvery: boolean): Outcome => (isEvery ? 'kept' : 'refused')
const isInteger = (name: string) => /^u?int/.test(name)
const bitsOf = (name: string) => Number(/\d+$/.exec(name)?.[0] ?? 0)

function isWithin(from: string, to: string): boolean {
  const isUnsigned = from.startsWith('u')
  if (to.startsWith('u') && !isUnsigned) return false
  return isUnsigned && !to.startsWith('u') ? bitsOf(from) < bitsOf(to) : bitsOf(from) <= bitsOf(to)
}

function lengthOf({ params }: ValueType): number {
  return typeof params?.value === 'number' ? params.value : Number.POSITIVE_INFINITY
}

function precisionOf({ params }: ValueType): number | undefined {
  return typeof params?.precision === 'number' ? params.precision : undefined
}

/** Digits behind the point; without bounds as many as there are. */
function scaleOf(type: ValueType): number {
  return precisionOf(type) === undefined ? Number.POSITIVE_INFINITY : Number(type.params?.scale)
}

/** Digits before the point. */
function wholeOf(type: ValueType): number {
  if (isInteger(type.name)) return String(2n ** BigInt(bitsOf(type.name)) - 1n).length
  return (precisionOf(type) ?? Number.POSITIVE_INFINITY) - (precisionOf(type) === undefined ? 0 : scaleOf(type))
}

/** What a change of a plan or a dry run does to the values of its field, by its `from` and `to`; nothing where it is about something else. */
export function effectsOf(from: unknown, to: unknown): readonly (Outcome | 'anew' | 'nulls')[] {
  const [before, after] = [typeIn(fieldText(from)), typeIn(fieldText(to))]
  if (before === undefined || after === undefined) return []
  const outcome = outcomeOf(before, after, before.isList)
  if (outcome === undefined || before.isList !== after.isList) return ['anew']
  return [
    ...(isSame(before, after) ? [] : [outcome]),
    ...(before.isNullable && !after.isNullable ? (['nulls'] as const) : []),
  ]
}

/** The type of a field as the model file writes it: its text, or that of an object; empty for what is none. */
export function fieldText(form: unknown): string {
  const text = typeof form === 'object' && form !== null ? (form as { readonly type?: unknown }).type : form
  return typeof text === 'string' ? text : ''
}

export function isSame(one: ValueType, other: ValueType): boolean {
  const boundsOf = (type: ValueType) => [type.name, lengthOf(type), precisionOf(type), type.params?.scale].join()
  return boundsOf(one) === boundsOf(other)
}
