/**
 * An operand whose value is bound when the statement runs, so that one compiled statement serves many requests. It is an
 * object, so no string in a request can be mistaken for a placeholder.
 */
import type { FieldType } from '../model/field-type.ts'

export type Placeholder =
  /** A part of the key in the path, by its index. */
  | { readonly kind: 'key'; readonly index: number }
  /** The time of the request, moved by `offset` milliseconds, for a field of the type. */
  | { readonly kind: 'now'; readonly offset: number; readonly type: FieldType['name'] }
  /** A value of the query template, by its index; `path` is its place in the query, for messages. */
  | { readonly kind: 'queryValue'; readonly index: number; readonly type: FieldType; readonly path: string }
  /** The value at `at` in the order of the cursor that is the template's value `index`, or the whole cursor. */
  | {
      readonly kind: 'cursorValue'
      readonly index: number
      readonly at: number
      readonly type: FieldType
      readonly path: string
    }
  | { readonly kind: 'cursorText'; readonly index: number }
  /** A value of the written item, by its index in the plan. */
  | { readonly kind: 'itemValue'; readonly index: number }
  /** The member of the write's ledger entry with this name. */
  | { readonly kind: 'entry'; readonly member: string }
  /** The index of an operation in its batch. */
  | { readonly kind: 'operation' }
  /** The writer: the id of a user, or `anonymous`. */
  | { readonly kind: 'actor' }

/** A value in the database's text form, or a placeholder for one. */
export type Operand = string | Placeholder

/** The value that a run binds to a placeholder of its plan. */
export type Bindings = (placeholder: Placeholder) => string | null

export function isPlaceholder(operand: Operand | null): operand is Placeholder {
  return typeof operand === 'object' && operand !== null
}

/** The text of an operand whose plan was bound before. */
export function boundText(operand: Operand): string {
  return isPlaceholder(operand) ? unbound(operand) : operand
}

/** For placeholders without a value in this run. */
export function unbound({ kind }: Placeholder): never {
  throw new Error(`no value for a placeholder of the kind ${kind}`)
}
