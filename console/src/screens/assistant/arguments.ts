/** The arguments of a call, read from the text that is stored, so that what is shown is what is run. */
import { parseExactly } from '../../data/exact-json.ts'

/** With the digits of their numbers; undefined for a text that is no JSON object. */
export function argumentsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const sent = unpacked(text)
  return typeof sent === 'object' && sent !== null && !Array.isArray(sent)
    ? (sent as Readonly<Record<string, unknown>>)
    : undefined
}

/** Tools take lists and objects as JSON texts, too; any other value as it is. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parseExactly(value)
  } catch {
    return value
  }
}
