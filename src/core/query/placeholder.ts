/**
 * A placeholder is an operand whose value is bound when the statement runs, so that one compiled statement serves many
 * requests. Values cannot be mistaken for placeholders, since decoded values never contain NUL.
 */
export function placeholder(name: string): string {
  return `${MARK}${name}`
}

export function isPlaceholder(operand: string | null): operand is string {
  return operand?.startsWith(MARK) === true
}

export function placeholderName(operand: string): string {
  return operand.slice(MARK.length)
}

const MARK = '\u0000'
