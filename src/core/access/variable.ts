/**
 * The variables of a policy's filters (docs/contract.md#content-of-a-policy): `$CURRENT_USER`, `$CURRENT_ROLES`, and
 * `$NOW` with an offset such as `$NOW(-7 days)`. The caller is known when policies are merged; the time is a
 * placeholder until the statement runs.
 */
import type { PrimitiveField } from '../model/model.ts'
import { holdsTime, partOfMoment } from '../model/moment.ts'
import { queryFault } from '../query/parse.ts'
import type { Placeholder } from '../query/placeholder.ts'
import type { FieldResolver } from '../query/resolve.ts'

export type VariableContext = { readonly userId: string | undefined; readonly roleIds: readonly string[] }

/** An id that no account has: the value of `$CURRENT_USER` for anonymous callers. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** The value of `$CURRENT_USER` for an unknown user: no id, and no text that a request can contain. */
export const ANYBODY = '\u0000anybody'

export function policyVariable({ userId, roleIds }: VariableContext): FieldResolver['variable'] {
  return (text, field, path) => {
    if (text === '$CURRENT_USER') return ofIdType(field, userId ?? NOBODY, path)
    if (text === '$CURRENT_ROLES') return roleIds.map((id) => ofIdType(field, id, path))
    if (text.startsWith('$NOW')) return now(text, field, path)
    // Also refuses suffixes such as `$CURRENT_USER.email`, which as text would match nothing.
    if (/^\$[a-z_]/i.test(text)) throw queryFault(path, 'is not a variable')
    return undefined
  }
}

type TimePlaceholder = Extract<Placeholder, { readonly kind: 'now' }>

/** Returns the value of a `$NOW` placeholder at the time `at`, in milliseconds since the epoch. */
export function bindTimeVariable({ offset, type }: TimePlaceholder, at: number): string {
  return partOfMoment(new Date(at + offset).toISOString(), type)
}

function ofIdType({ type }: PrimitiveField, id: string, path: string): string {
  if (type.name === 'uuid' || type.name === 'string') return id
  throw queryFault(path, 'can only be compared with a uuid or a string')
}

const millisecondsPer: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
}

function now(text: string, { type }: PrimitiveField, path: string): TimePlaceholder {
  if (!holdsTime(type.name)) throw queryFault(path, 'can only be compared with a date or a time')
  const [, amount = '0', unit = 'second'] =
    /^\$NOW(?:\(\s*([+-]?\d{1,6}) (second|minute|hour|day|week)s?\s*\))?$/.exec(text) ?? unknownOffset(path)
  return { kind: 'now', offset: Number(amount) * (millisecondsPer[unit] ?? 0), type: type.name }
}

function unknownOffset(path: string): never {
  throw queryFault(path, 'must be $NOW or have an offset such as $NOW(-7 days), in seconds to weeks')
}
