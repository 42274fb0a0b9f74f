/**
 * A hole is an operand whose value comes when a statement runs, so that one compiled statement serves many requests. No
 * value can be mistaken for one: decoded values never hold a NUL.
 */
export function hole(name: string): string {
  return `${MARK}${name}`
}

export function isHole(operand: string | null): operand is string {
  return operand?.startsWith(MARK) === true
}

export function holeName(operand: string): string {
  return operand.slice(MARK.length)
}

const MARK = '\u0000'
