/** What a decoder returns. A fault is a predicate ("must be …", "is not …") that never repeats the value. */
import type { FieldType } from '../field-type.ts'

/** `ok` is the text that a statement casts to the column's type. */
export type Decoded = { readonly ok: string } | Fault

export type Fault = { readonly fault: string }

export type Params<Name extends FieldType['name']> =
  Extract<FieldType, { readonly name: Name }> extends {
    readonly params: infer P
  }
    ? P
    : never
