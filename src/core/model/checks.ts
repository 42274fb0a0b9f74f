/**
 * What the check constraints of a database say about the values of one column, where their form is known. Every value
 * that the database accepts meets them; the database enforces them.
 */

/** Numbers are texts, so that none is rounded; lengths are in characters, `pattern` is as in JSON Schema. */
export type Limits = {
  readonly values?: readonly string[]
  readonly minimum?: string
  readonly maximum?: string
  readonly exclusiveMinimum?: string
  readonly exclusiveMaximum?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
}

/** What is known of the values of a field: those of its enum, and what all of its constraints say. */
export function limitsOf({ native, checks = [] }: Limited): Limits {
  const own = native?.values ? [{ values: native.values }] : []
  return joinLimits([...own, ...checks.map(({ limits }) => limits)])
}

/** `limits`, without the list of values; empty where nothing is known. */
export function boundsOf(field: Limited): { readonly limits?: Omit<Limits, 'values'> } {
  const { values: _, ...limits } = limitsOf(field)
  return Object.keys(limits).length === 0 ? {} : { limits }
}

type Limited = { readonly native: { readonly values?: readonly string[] } | null; readonly checks?: readonly Check[] }

/** A constraint, by its name in the database; `says` is what it asks where no limits of single values do. */
export type Check = { readonly name: string; readonly limits: Limits; readonly says?: string }

type Joining = { -readonly [Name in keyof Limits]: Limits[Name] }

/** The limits of all constraints together; of several patterns the first. */
export function joinLimits(all: readonly Limits[]): Limits {
  const joined: Joining = {}
  for (const limits of all) join(joined, limits)
  return joined
}

function join(one: Joining, other: Limits): void {
  for (const name of ['minimum', 'exclusiveMinimum'] as const) {
    if (other[name] !== undefined && !isAbove(one[name], other[name])) one[name] = other[name]
  }
  for (const name of ['maximum', 'exclusiveMaximum'] as const) {
    if (other[name] !== undefined && !isAbove(other[name], one[name])) one[name] = other[name]
  }
  const { values, minLength, maxLength, pattern } = other
  if (minLength !== undefined) one.minLength = Math.max(minLength, one.minLength ?? 0)
  if (maxLength !== undefined) one.maxLength = Math.min(maxLength, one.maxLength ?? maxLength)
  if (pattern !== undefined) one.pattern ??= pattern
  if (values !== undefined) one.values = one.values?.filter((value) => values.includes(value)) ?? values
}

function isAbove(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && Number(one) > Number(other)
}

/** For the message of a violation. */
export function describeLimits(limits: Limits): string {
  const parts: { readonly [Name in keyof Required<Limits>]: (value: never) => string } = {
    values: (values: readonly string[]) => `one of ${values.join(', ')}`,
    minimum: (value: string) => `at least ${value}`,
    maximum: (value: string) => `at most ${value}`,
    exclusiveMinimum: (value: string) => `above ${value}`,
    exclusiveMaximum: (value: string) => `below ${value}`,
    minLength: (value: number) => (value === 1 ? 'not empty' : `at least ${value} characters long`),
    maxLength: (value: number) => `at most ${value} characters long`,
    pattern: (value: string) => `of the form ${value}`,
  }
  const texts = Object.entries(limits).map(([name, value]) => parts[name as keyof Limits](value as never))
  return `must be ${texts.join(' and ')}`
}
