/** The part of a timestamp that a field stores, by its type. */
import type { TypeName } from './field-type.ts'

/** Takes a text such as `2026-01-31T12:30:00.000Z`; undefined for types that store no part of it. */
const parts: Readonly<Record<TypeName, ((moment: string) => string) | undefined>> = {
  int8: undefined,
  int16: undefined,
  int32: undefined,
  int64: undefined,
  uint8: undefined,
  uint16: undefined,
  uint32: undefined,
  uint64: undefined,
  float32: undefined,
  float64: undefined,
  decimal: undefined,
  string: undefined,
  uuid: undefined,
  boolean: undefined,
  date: (moment) => moment.slice(0, 10),
  time: (moment) => moment.slice(11, -1),
  dateTime: (moment) => moment.slice(0, -1),
  dateTimeWithTimezone: (moment) => moment,
  json: undefined,
  bytes: undefined,
  geometry: undefined,
}

export function holdsTime(type: TypeName): boolean {
  return parts[type] !== undefined
}

/** Returns the whole timestamp for a type that stores no part of it. */
export function partOfMoment(moment: string, type: TypeName): string {
  return parts[type]?.(moment) ?? moment
}
