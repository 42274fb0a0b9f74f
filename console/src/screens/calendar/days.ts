/** Days as texts such as `2026-01-31`, the weeks of a month, and the days of what a field has. */
import type { FieldModel } from '../grid/model.ts'
import { readableOf } from '../grid/readable.ts'

export type Day = string
/** Such as `2026-01`. */
export type Month = string

const at = (day: Day) => new Date(`${day}T00:00:00Z`)

/** What `Intl` takes to write it, in no zone. */
export function instantOf(day: Day): number {
  return at(day).getTime()
}

export function added(day: Day, days: number): Day {
  const date = at(day)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** The same day of another month, or its last. */
export function inMonth(day: Day, months: number): Day {
  const month = shifted(day.slice(0, 7), months)
  const last = Number(added(`${shifted(month, 1)}-01`, -1).slice(8))
  return `${month}-${String(Math.min(Number(day.slice(8)), last)).padStart(2, '0')}`
}

function shifted(month: Month, months: number): Month {
  const first = at(`${month}-01`)
  first.setUTCMonth(first.getUTCMonth() + months)
  return first.toISOString().slice(0, 7)
}

/** That of the reader's clock. */
export function today(): Day {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}

/** Whole weeks, with what of them is before and behind the month; `first` is 1 for weeks that begin on Monday, 7 on Sunday. */
export function weeksOf(month: Month, first: number): readonly (readonly Day[])[] {
  const begin = startOf(`${month}-01`, first)
  const weeks = [0, 1, 2, 3, 4, 5].map((week) => [0, 1, 2, 3, 4, 5, 6].map((day) => added(begin, week * 7 + day)))
  return weeks.filter((week) => week.some((day) => day.startsWith(month)))
}

/** The first day of its week. */
export function startOf(day: Day, first: number): Day {
  return added(day, -((at(day).getUTCDay() - first + 7) % 7))
}

/** The day of a value and its time; the former undefined where there is none, as of `infinity`. */
export function momentOf(field: FieldModel, value: unknown): { readonly day: Day | undefined; readonly time: string } {
  const text = readableOf(field, value)
  return { day: /^\d{4}-\d\d-\d\d/.exec(text)?.[0], time: text.slice(11, 16) }
}

/** The beginning of a day as the field has it, of moments in the reader's zone. */
export function beginningOf({ type }: FieldModel, day: Day): string {
  if (type === 'date') return day
  const begin = `${day}T00:00:00`
  return type === 'dateTime' ? begin : new Date(begin).toISOString().replace('.000', '')
}
