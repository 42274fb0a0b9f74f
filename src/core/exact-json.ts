/**
 * Reads JSON so that its numbers keep the text in which they were sent: one that a JavaScript number would change
 * becomes a raw number, which `JSON.stringify` writes as it was.
 */

/** Like `JSON.parse`, and throws like it. */
export function parseExactJson(text: string): unknown {
  return engine.rawJSON === undefined || !mayChange.test(text) ? JSON.parse(text) : parse(text, keepText)
}

/** A raw number as JavaScript reads it; any other value as it is. */
export function plainNumber(value: unknown): unknown {
  return isRawNumber(value) ? Number(value.rawJSON) : value
}

/** Numbers as JavaScript reads them, at any depth but within members of this name. */
export function withPlainNumbers(value: unknown, exact: string): unknown {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return plainNumber(value)
  if (Array.isArray(value)) return value.map((one) => withPlainNumbers(one, exact))
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === exact ? member : withPlainNumbers(member, exact),
  ])
  return Object.fromEntries(members)
}

export function isRawNumber(value: unknown): value is { readonly rawJSON: string } {
  return typeof value === 'object' && engine.isRawJSON?.(value) === true
}

/** Missing in the types, and in Node before 21. */
const engine = JSON as {
  readonly rawJSON?: (text: string) => unknown
  readonly isRawJSON?: (value: unknown) => boolean
}
const parse = JSON.parse as (text: string, reviver: typeof keepText) => unknown

/** Longer texts may have more digits than a JavaScript number is sure to keep. */
const MAX_PLAIN = 15

/** Many digits, an exponent, a zero at the end of a fraction, or a negative zero; also in a text, where it costs time only. */
const mayChange =
  /(?:^|[:,[\s])-?(?:[0-9][0-9.]{15}|[0-9.]+[eE]|[0-9]+\.[0-9]*0(?![0-9])|0\.000000)|(?:^|[:,[\s])-0(?![.0-9])/

/** A reviver costs one or two microseconds per value, so that few texts are read with one. */
function keepText(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  const sign = source?.startsWith('-') ? 1 : 0
  const isPlain = source === undefined || (source.length - sign <= MAX_PLAIN && source === String(value))
  return typeof value !== 'number' || isPlain ? value : engine.rawJSON?.(source)
}
