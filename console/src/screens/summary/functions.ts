/** What is calculated of fields, and the units that times are cut down to, each where the API takes it. */
import { isNumber } from '../grid/readable.ts'

type Shape = { readonly type: string; readonly isList: boolean }

export const functions = ['count', 'countDistinct', 'sum', 'avg', 'min', 'max'] as const
export const units = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute'] as const

export type Called = (typeof functions)[number]
export type Unit = (typeof units)[number]

export function isMeasurable(called: Called, field: Shape & { readonly operators: readonly string[] }): boolean {
  switch (called) {
    case 'count':
      return true
    case 'countDistinct':
      return isGroupable(field)
    case 'sum':
    case 'avg':
      return isNumber(field)
    case 'min':
    case 'max':
      return field.operators.includes('_lt')
  }
}

export function isGroupable({ type, isList }: Shape): boolean {
  return !isList && type !== 'json' && type !== 'geometry'
}

export function unitsOf({ type, isList }: Shape): readonly Unit[] {
  if (isList || !type.startsWith('date')) return []
  return type === 'date' ? units.slice(0, 5) : units
}

/** The beginning of a unit of time as its name: `2026`, `2026-Q3`, `2026-07`. */
export function unitText(unit: Unit, value: unknown): string {
  const text = String(value)
  const [, year, month] = /^(.*)-(\d\d)-\d\d$/.exec(text) ?? []
  if (year === undefined) return text.replace('T', ' ')
  if (unit === 'year') return year
  if (unit === 'quarter') return `${year}-Q${Math.ceil(Number(month) / 3)}`
  return unit === 'month' ? `${year}-${month}` : text
}
