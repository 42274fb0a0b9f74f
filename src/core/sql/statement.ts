/**
 * Builds SQL text; no other file does. A `Sql` is a tree of literal text, parameters, identifiers and further trees;
 * only `compile` turns it into text, so a value can never change the structure of a statement.
 */
import { queryFault } from '../query/parse.ts'
import { type Bindings, isPlaceholder, type Placeholder, unbound } from '../query/placeholder.ts'

export type SqlParam = string | null

/** A parameter that may not be bound yet. */
export type TemplateParam = SqlParam | Placeholder

/** A statement for a driver. Parameters are texts; the statement casts them to the required types. */
export type Statement = {
  readonly text: string
  readonly params: readonly SqlParam[]
  /**
   * The result may be large: drivers should not queue small statements behind it, nor run many such statements at once.
   */
  readonly isLarge?: boolean
  /**
   * Receives the rows of this statement before the next one of its batch runs. May fail the batch by throwing, or return one
   * more statement. Only dialects whose drivers wait for each answer have such statements.
   */
  readonly onRows?: OnRows<Statement>
}

/** `matched` is the number of rows that a change has found, if the driver reports it. */
export type OnRows<Next> = (rows: readonly (readonly SqlParam[])[], matched?: number) => Next | undefined

/** A statement with open parameters; `binder` turns it into statements. */
export type StatementTemplate = Omit<Statement, 'params' | 'onRows'> & {
  readonly params: readonly TemplateParam[]
  readonly onRows?: OnRows<StatementTemplate>
}

export type Sql = {
  readonly parts: readonly Part[]
  /** As in `Statement`; only a whole statement has it. */
  readonly onRows?: OnRows<Sql>
}

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'param'; readonly value: TemplateParam }
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

/** Throws 422 for a statement over the limit. Uses no spread, whose arguments would be on the stack. */
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
export function param(value: TemplateParam): Sql {
  return { parts: [{ kind: 'param', value }] }
}

/** A name, or a qualified name (`ident('t0', 'title')`), quoted by the dialect. */
export function ident(...names: readonly [string, ...string[]]): Sql {
  return { parts: [{ kind: 'ident', names }] }
}

/** A text constant of the model or a migration, never of a request, because it becomes part of the statement's text. */
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

/** A statement that the database itself has generated. */
export function answered(text: string): Sql {
  return { parts: [{ kind: 'text', text }] }
}

/** The query, whose rows are passed to `onRows`. */
export function withRowHandler(query: Sql, onRows: OnRows<Sql>): Sql {
  return { ...query, onRows }
}

export const empty: Sql = { parts: [] }
const comma: Sql = sql`, `

/** Turns a tree that has no placeholders into a statement. */
export function compile(fragment: Sql, syntax: SqlSyntax): Statement {
  return binder(compileTemplate(fragment, syntax))(unbound)
}

/** Turns a tree into a template of statements; parameters are numbered in the order of the text. */
export function compileTemplate(fragment: Sql, syntax: SqlSyntax): StatementTemplate {
  const params: TemplateParam[] = []
  let text = ''
  for (const part of fragment.parts) {
    if (part.kind === 'text') text += part.text
    else if (part.kind === 'literal') text += syntax.quoteText(part.text)
    else if (part.kind === 'ident') text += part.names.map(syntax.quote).join('.')
    else text += syntax.placeholder(params.push(part.value))
  }
  const { onRows } = fragment
  if (onRows === undefined) return { text, params }
  return {
    text,
    params,
    onRows(rows, matched) {
      const next = onRows(rows, matched)
      return next && compileTemplate(next, syntax)
    },
  }
}

/** Prepares `template` for repeated execution with other values for its placeholders. */
export function binder({ params, onRows, ...rest }: StatementTemplate): (bindings: Bindings) => Statement {
  const bound = (values: readonly SqlParam[]): Statement => ({ ...rest, params: values })
  if (onRows !== undefined) {
    return (bindings) => ({
      ...bound(params.map((value) => (isPlaceholder(value) ? bindings(value) : value))),
      onRows(rows, matched) {
        const next = onRows(rows, matched)
        return next && binder(next)(bindings)
      },
    })
  }
  const known = params.filter((value): value is SqlParam => !isPlaceholder(value))
  if (known.length === params.length) {
    const statement = bound(known)
    return () => statement
  }
  return (bindings) => bound(params.map((value) => (isPlaceholder(value) ? bindings(value) : value)))
}
