/** Which members a schema knows at a place of what it reads: for messages about one that it does not know. */
import type * as z from 'zod'
import { didYouMean } from './nearest.ts'

/** What is said of a member that `schema` does not know. */
export function unknownMember(schema: z.ZodType, issue: UnknownMember): string {
  const [name = ''] = issue.keys
  return `unknown field ${name.slice(0, 100)}${didYouMean(name, knownMembers(schema, issue.path))}`
}

/** What is said of a value that is none of a few that are known. */
export function notOneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
}

type UnknownMember = { readonly keys: readonly string[]; readonly path: readonly PropertyKey[] }

/** Names at `path`; none where the schema does not say. */
export function knownMembers(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  return path
    .reduce<readonly Schema[]>(
      (found, part) => found.flatMap((one) => below(one, part)),
      alternatives(schema as Schema),
    )
    .flatMap(({ def }) => Object.keys(def.shape ?? {}))
}

/** What is read here of a schema's definition; the kinds that have no such part leave it out. */
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

/** The schemas that read a value themselves, without what only wraps them. */
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
