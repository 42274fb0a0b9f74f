/**
 * What aggregates must answer: a fold over rows as a read answers them, as naively as can be. Sums and averages of floating
 * point have no one answer, since the order of their terms is not said.
 */
import {
  type AggregateDraft,
  type Condition,
  type FunctionDraft,
  type GroupDraft,
  isInexact,
  outputType,
} from './aggregates.ts'
import { operatorHolds, ordered, type Truth } from './oracle.ts'
import type { Row } from './rows.ts'
import type { TypeText } from './shop.ts'

export type Folded = { readonly group: Row } & Row

/** A number that is this one, but for rounding. */
export type Near = { readonly near: number; readonly tolerance: number }

export type Fold = {
  readonly groups: readonly Folded[]
  readonly total: number
  /** Whether a sum may be beyond what a double holds. */
  readonly mayOverflow: boolean
}

/** `rows` are all rows that match the filter, with what `fieldsUsed` names. */
export function fold(draft: AggregateDraft, rows: readonly Row[], defaultLimit: number): Fold {
  const { groups, aggregates, having, sort, limit = defaultLimit, offset = 0 } = draft
  const members = new Map<string, Row[]>()
  const values = new Map<string, Row>()
  if (groups.length === 0) {
    members.set('{}', [...rows])
    values.set('{}', {})
  }
  for (const row of groups.length === 0 ? [] : rows) {
    const group = Object.fromEntries(groups.map((one) => [one.name, groupValue(one, row)]))
    const key = JSON.stringify(group)
    members.set(key, [...(members.get(key) ?? []), row])
    values.set(key, group)
  }
  const all = [...members].map(([key, own]): Folded => {
    const worked = aggregates.map((one) => [one.name, applied(one, own)] as const)
    return { group: values.get(key) ?? {}, ...Object.fromEntries(worked) }
  })
  const kept = all.filter((one) => having === undefined || meets(draft, having, one))
  const outputs = [...groups, ...aggregates]
  const typeOf = (name: string) => {
    const output = outputs.find((one) => one.name === name)
    return output && outputType(output)
  }
  const order = [...sort, ...groups.map(({ name }) => ({ name, how: {} }))]
  const shownAs = (one: Folded, name: string) => (name in one.group ? one.group[name] : one[name])
  const sorted = kept.toSorted((one, other) => {
    for (const { name, how } of order) {
      const { direction = 'asc', nulls = direction === 'asc' ? 'last' : 'first' } = how as {
        direction?: 'asc' | 'desc'
        nulls?: 'first' | 'last'
      }
      const type = typeOf(name)
      const [left, right] = [one, other].map((group) => inTime(type, shownAs(group, name)))
      const result = ordered(type, left, right, { direction, nulls })
      if (result !== 0) return result
    }
    return 0
  })
  const mayOverflow = [...members.values()].some((own) =>
    aggregates.some((one) => isInexact(one) && !Number.isFinite(weight(one, own))),
  )
  return { groups: sorted.slice(offset, limit < 0 ? undefined : offset + limit), total: kept.length, mayOverflow }
}

function meets(
  { groups, aggregates }: AggregateDraft,
  having: NonNullable<AggregateDraft['having']>,
  one: Folded,
): boolean {
  const truthOf = ({ name, operator, operand }: Condition): Truth => {
    const output = [...groups, ...aggregates].find((other) => other.name === name)
    const value = name in one.group ? one.group[name] : one[name]
    const type = output && outputType(output)
    const asked = operator === '_null' ? operand.value : inTime(type, operand.value)
    return operatorHolds(type, operator, asked, inTime(type, value))
  }
  const truths = having.conditions.map(truthOf)
  return having.all ? truths.every((truth) => truth === true) : truths.includes(true)
}

/** Years with signs in the order of time, in which texts without are. */
function inTime(type: TypeText | undefined, value: unknown): unknown {
  const isOfTime = type !== undefined && ['date', 'dateTime', 'dateTimeWithTimezone'].includes(type.name)
  if (!isOfTime || value === null) return value
  const [, year = '', rest = ''] = /^([+-]?\d+)(.*)$/.exec(String(value)) ?? []
  return `${Number(year) + 500_000}${rest}`
}

function groupValue({ path, type, trunc, zone = 0 }: GroupDraft, row: Row): unknown {
  const value = path.split('.').reduce<unknown>((below, name) => (below as Row | null)?.[name] ?? null, row)
  if (value === null) return null
  return trunc === undefined ? canonical(type, value) : truncated(String(value), trunc, zone)
}

/** Values that are equal have one form. */
export function canonical(type: TypeText, value: unknown): unknown {
  if (value === null) return null
  if (type.name === 'float32') return Math.fround(Number(value)) + 0
  if (type.name === 'float64') return Number(value) + 0
  if (type.name !== 'decimal') return value
  const [whole = '', fraction = ''] = String(value).split('.')
  const digits = fraction.replace(/0+$/, '')
  const text = digits === '' ? whole : `${whole}.${digits}`
  return text === '-0' ? '0' : text
}

function truncated(text: string, unit: NonNullable<GroupDraft['trunc']>, zone: number): string {
  const [, year = '', month = '', day = '', rest = ''] = /^(\d{4})-(\d\d)-(\d\d)(.*)$/.exec(text) ?? []
  const [, hour = '0', minute = '0', second = '0'] = /^T(\d\d):(\d\d):(\d\d)/.exec(rest) ?? []
  const at = new Date(0)
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  at.setUTCHours(Number(hour), Number(minute) + zone, Number(second))
  const start = new Date(at)
  if (unit === 'hour' || unit === 'minute') {
    start.setUTCMinutes(unit === 'hour' ? 0 : at.getUTCMinutes(), 0)
    return `${dayText(start)}T${start.toISOString().slice(-13, -5)}`
  }
  start.setUTCHours(0, 0, 0)
  if (unit === 'week') start.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7))
  if (unit === 'month') start.setUTCDate(1)
  if (unit === 'quarter') start.setUTCMonth(Math.floor(at.getUTCMonth() / 3) * 3, 1)
  if (unit === 'year') start.setUTCMonth(0, 1)
  return dayText(start)
}

/** Years that four digits do not have get a sign and six. */
function dayText(at: Date): string {
  const year = at.getUTCFullYear()
  const isCommon = year >= 1 && year <= 9999
  const shown = isCommon
    ? String(year).padStart(4, '0')
    : `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`
  return `${shown}-${at.toISOString().slice(-19, -14)}`
}

function applied({ function: called, field, type }: FunctionDraft, rows: readonly Row[]): unknown {
  if (field === '*') return rows.length
  const values = rows.map((row) => row[field] ?? null).filter((value) => value !== null)
  switch (called) {
    case 'count':
      return values.length
    case 'countDistinct':
      return new Set(values.map((value) => JSON.stringify(canonical(type, value)))).size
    case 'sum':
    case 'avg':
      return values.length === 0 ? null : summed(called, type, values)
    case 'min':
    case 'max': {
      const best = (one: unknown, other: unknown) => {
        const order = ordered(type, one, other, { direction: 'asc', nulls: 'last' })
        return (called === 'min' ? order <= 0 : order >= 0) ? one : other
      }
      return values.length === 0 ? null : canonical(type, values.reduce<unknown>(best, values[0]))
    }
  }
}

function summed(called: 'sum' | 'avg', type: TypeText, values: readonly unknown[]): unknown {
  if (type.name === 'float32' || type.name === 'float64') {
    const numbers = values.map((value) => (type.name === 'float32' ? Math.fround(Number(value)) : Number(value)))
    const count = called === 'sum' ? 1 : numbers.length
    const near: Near = {
      near: numbers.reduce((sum, value) => sum + value, 0) / count,
      tolerance: (numbers.reduce((sum, value) => sum + Math.abs(value), 0) / count) * 1e-12,
    }
    return near
  }
  const scale = Math.max(...values.map((value) => (String(value).split('.')[1] ?? '').length))
  const total = values.reduce<bigint>((sum, value) => sum + digitsOf(String(value), scale), 0n)
  const text = canonical({ ...type, name: 'decimal' }, decimalOf(total, scale))
  return called === 'sum' ? text : Number(text) / values.length
}

function digitsOf(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}

function decimalOf(digits: bigint, scale: number): string {
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const sign = digits < 0n ? '-' : ''
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

function weight({ field }: FunctionDraft, rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + Math.abs(Number(row[field] ?? 0)), 0)
}

/** The groups of an answer in the form in which `fold` has them. */
export function answered({ groups, aggregates }: AggregateDraft, data: readonly Folded[]): readonly Folded[] {
  return data.map(({ group, ...rest }) => {
    const shown = groups.map((one) => [one.name, canonical(outputType(one), group[one.name] ?? null)])
    const worked = aggregates.map((one) => [one.name, canonical(outputType(one), rest[one.name] ?? null)])
    return { group: Object.fromEntries(shown), ...Object.fromEntries(worked) }
  })
}

/** `expected`, with the numbers of `actual` where they are near enough. */
export function approximated(expected: readonly Folded[], actual: readonly Folded[]): readonly Folded[] {
  return expected.map((one, index) => {
    const members = Object.entries(one).map(([name, value]) => {
      if (typeof value !== 'object' || value === null || !('near' in value)) return [name, value]
      const { near, tolerance } = value as Near
      const found = actual[index]?.[name]
      return [name, typeof found === 'number' && Math.abs(found - near) <= tolerance ? found : near]
    })
    return Object.fromEntries(members) as Folded
  })
}
