/** Finds the member names that a schema accepts at a path, for messages about unknown members. */
import type * as z from 'zod'
import { shortName } from './message-text.ts'
import { didYouMean, listKnown } from './nearest.ts'

/** More names would not be read. */
const MAX_LISTED = 12

/** The message for a member that `schema` does not accept: with the name that was probably meant, or all if they are few. */
export function unknownMember(schema: z.ZodType, issue: UnknownMember): string {
  const [name = ''] = issue.keys
  const known = [...new Set(knownMembers(schema, issue.path))]
  return `unknown field ${shortName(name)}${(known.length > MAX_LISTED ? didYouMean : listKnown)(name, known)}`
}

/** The message for a value that is none of the accepted `values`. */
export function notOneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
}

type UnknownMember = { readonly keys: readonly string[]; readonly path: readonly PropertyKey[] }

/** Returns the names accepted at `path`; an empty list where the schema does not say. */
export function knownMembers(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  return path
    .reduce<readonly Schema[]>(
      (found, part) => found.flatMap((one) => below(one, part)),
      alternatives(schema as Schema),
    )
    .flatMap(({ def }) => Object.keys(def.shape ?? {}))
}

/** The parts of a Zod schema's definition that are read here; absent in the kinds that lack them. */
type Schema = {
  readonly def: {
    readonly type: string
    readonly shape?: Readonly<Record<string, Schema>>
    readonly element?: Schema
    readonly valueType?: Schema
    readonly innerType?: Schema
    readonly in?: Schema
    readonly out?: Schema
    readonly options?: readonly Schema[]
    readonly getter?: () => Schema
  }
}

/** Unwraps optional, nullable and similar schemas, and unions, into the schemas that read a value themselves. */
function alternatives(schema: Schema): readonly Schema[] {
  const { type, options, innerType, getter, in: before, out } = schema.def
  if (options !== undefined) return options.flatMap(alternatives)
  if (innerType !== undefined) return alternatives(innerType)
  if (type === 'lazy' && getter !== undefined) return alternatives(getter())
  if (type === 'pipe') return [before, out].flatMap((one) => (one === undefined ? [] : alternatives(one)))
  return [schema]
}

function below({ def }: Schema, part: PropertyKey): readonly Schema[] {
  const next = def.shape?.[String(part)] ?? def.element ?? def.valueType
  return next === undefined ? [] : alternatives(next)
}
