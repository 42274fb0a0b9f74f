/**
 * JSON in which numbers keep the text that they were sent in, where the browser's own, which are 64-bit floating point,
 * would be written otherwise: `12345678901234567890`, `1.50`.
 */

/** A number as its text; written as JSON it is that text again. */
type Raw = { readonly rawJSON: string }

/** What browsers have of it, and the library of the compiler does not say yet. */
const json = JSON as unknown as {
  parse(text: string, revive: (name: string, value: unknown, of: { readonly source: string }) => unknown): unknown
  rawJSON(text: string): Raw
  isRawJSON(value: unknown): value is Raw
}

export function parseExactly(text: string): unknown {
  return json.parse(text, (_, value, { source }) =>
    typeof value === 'number' && String(value) !== source ? json.rawJSON(source) : value,
  )
}

/** The text of a number that was kept as it was sent; undefined for any other value. */
export function numberText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : json.isRawJSON(value) ? value.rawJSON : undefined
}
