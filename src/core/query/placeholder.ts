/**
 * An operand whose value is bound when the statement runs, so that one compiled statement serves many requests. It is
 * data of its own type: no text that anybody sends can be mistaken for one.
 */
import type { FieldType } from '../model/field-type.ts'

export type Placeholder =
  /** A part of the key in the path, by its place there. */
  | { readonly kind: 'key'; readonly index: number }
  /** The time of the request, moved by `offset` milliseconds, for a field of the type. */
  | { readonly kind: 'now'; readonly offset: number; readonly type: FieldType['name'] }
  /** A value of the query template, by its place there; `path` is where it stands, for messages. */
  | { readonly kind: 'queryValue'; readonly index: number; readonly type: FieldType; readonly path: string }
  /** A value of the cursor that is the template's value `index`, by its place in the order, and the cursor itself. */
  | {
      readonly kind: 'cursorValue'
      readonly index: number
      readonly at: number
      readonly type: FieldType
      readonly path: string
    }
  | { readonly kind: 'cursorText'; readonly index: number }
  /** A value of the item that is written, by its place among those of its plan. */
  | { readonly kind: 'itemValue'; readonly index: number }
  /** What the entry of a write in a ledger has under this name. */
  | { readonly kind: 'entry'; readonly member: string }
  /** The place of an operation in its batch. */
  | { readonly kind: 'operation' }
  /** Who writes: the id of a user, or `anonymous`. */
  | { readonly kind: 'actor' }

/** A value in the database's text form, or what stands for one until the statement runs. */
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

/** For placeholders that a run has no value for. */
export function unbound({ kind }: Placeholder): never {
  throw new Error(`no value for a placeholder of the kind ${kind}`)
}
