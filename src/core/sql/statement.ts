/**
 * Builds SQL text; no other file does. A `Sql` is a tree of literal text, parameters, identifiers and further trees;
 * only `compile` turns it into text, so a value can never change the structure of a statement.
 */

import { queryFault } from '../query/parse.ts'
import { isPlaceholder, placeholderName } from '../query/placeholder.ts'

export type SqlParam = string | null

/** A statement for a driver. Parameters are texts; the statement casts them to the required types. */
export type Statement = {
  readonly text: string
  readonly params: readonly SqlParam[]
  /**
   * The result may be large: drivers should not queue small statements behind it, nor run many such statements at once.
   */
  readonly isLarge?: boolean
}

export type Sql = { readonly parts: readonly Part[] }

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'param'; readonly value: SqlParam }
  | { readonly kind: 'ident'; readonly names: readonly string[] }
  | { readonly kind: 'literal'; readonly text: string }

/** The syntax of a database for quoted names and parameters. */
export type SqlSyntax = {
  readonly quote: (name: string) => string
  readonly quoteText: (text: string) => string
  readonly placeholder: (position: number) => string
}

/**
 * Maximum parts of one fragment. The filter of a policy occurs once per reference to its collection, so that even
 * limited filters, paths and numbers of policies multiply.
 */
const MAX_PARTS = 100_000

/** Throws 422 for a statement over the limit. No spread, since its arguments would be on the stack. */
function append(parts: Part[], fragment: Sql): void {
  if (parts.length + fragment.parts.length > MAX_PARTS) {
    throw queryFault(
      'query',
      'is too large with the policies that apply to it: ask for fewer fields, relations or conditions',
    )
  }
  for (const part of fragment.parts) parts.push(part)
}

/** Template tag: every interpolated value must be a Sql, so that no text can be injected. */
export function sql(strings: TemplateStringsArray, ...values: readonly Sql[]): Sql {
  const parts: Part[] = []
  strings.forEach((text, index) => {
    if (text !== '') parts.push({ kind: 'text', text })
    const value = values[index]
    if (value !== undefined) append(parts, value)
  })
  return { parts }
}

/** A value; sent separately from the statement's text. */
export function param(value: SqlParam): Sql {
  return { parts: [{ kind: 'param', value }] }
}

/** A name, or a qualified name (`ident('t0', 'title')`), quoted by the dialect. */
export function ident(...names: readonly [string, ...string[]]): Sql {
  return { parts: [{ kind: 'ident', names }] }
}

/** A text constant of the model or a migration, never of a request, since it becomes part of the statement's text. */
export function literal(text: string): Sql {
  return { parts: [{ kind: 'literal', text }] }
}

/** An integer that the service computed, written literally. */
export function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new TypeError(`not an integer: ${value}`)
  return { parts: [{ kind: 'text', text: String(value) }] }
}

/** Joins fragments by a separator, which is program text. */
export function join(fragments: readonly Sql[], separator: Sql = comma): Sql {
  const parts: Part[] = []
  fragments.forEach((fragment, index) => {
    if (index > 0) append(parts, separator)
    append(parts, fragment)
  })
  return { parts }
}

export const empty: Sql = { parts: [] }
const comma: Sql = sql`, `

/** Compiles a tree into a statement; placeholders are numbered in the order of the text. */
export function compile(fragment: Sql, syntax: SqlSyntax): Statement {
  const params: SqlParam[] = []
  let text = ''
  for (const part of fragment.parts) {
    if (part.kind === 'text') text += part.text
    else if (part.kind === 'literal') text += syntax.quoteText(part.text)
    else if (part.kind === 'ident') text += part.names.map(syntax.quote).join('.')
    else text += syntax.placeholder(params.push(part.value))
  }
  return { text, params }
}

/** Prepares `statement` for repeated execution with different values for its placeholders. */
export function binder(statement: Statement): (bindings: Bindings) => Statement {
  const names = statement.params.map((value) => (isPlaceholder(value) ? placeholderName(value) : undefined))
  if (names.every((name) => name === undefined)) return () => statement
  const { text, params, isLarge } = statement
  return (bindings) => ({
    text,
    params: params.map((value, index) => {
      const name = names[index]
      return name === undefined ? value : bindings(name)
    }),
    ...(isLarge === true && { isLarge }),
  })
}

/** The value to bind to the placeholder of this name. */
export type Bindings = (name: string) => SqlParam
