/** The members of values of composite types, which the database would drop where it does not know them. */
import { isObject } from '../json-object.ts'
import { shortName } from '../message-text.ts'
import type { Member } from '../model/model.ts'
import { listKnown } from '../nearest.ts'
import { queryFault } from '../query/parse.ts'

/** Throws for the first member of `value`, or of what is in it, that its type does not have. */
export function checkMembers(members: readonly Member[], value: unknown, path: string): void {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) checkMembers(members, element, `${path}[${index}]`)
    return
  }
  if (!isObject(value)) return
  const known = new Map(members.map(([own, inner]) => [own, inner]))
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}.${shortName(name)}`
    if (!known.has(name)) throw queryFault(at, `is unknown${listKnown(name, [...known.keys()])}`)
    const inner = known.get(name)
    if (inner !== undefined) checkMembers(inner, member, at)
  }
}
