/**
 * How deep and how many-membered JSON from outside may be, found out before anything that recurses or allocates walks it.
 * Both look-outs are loops: what they are asked about may be nested a million times.
 */

/** Of any JSON body. A JSON field alone may hold 1,000 levels, inside of nested writes. */
const bodyBounds = { depth: 1_100, members: 20_000 }

export type JsonLimits = {
  /** Levels of arrays and objects. */
  readonly depth: number
  /** Texts, numbers and the like, and arrays and objects without any. */
  readonly values: number
  /** Elements of one array. */
  readonly elements: number
  /** Characters of all texts and names together. */
  readonly length: number
  /** Characters of one name. */
  readonly nameLength: number
}

const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/**
 * What makes a JSON text more than anybody reads it as, as the reason of a fault: too many arrays and objects inside of each
 * other, or too many members of one object. Undefined where nothing does; any other text gets any answer.
 */
export function oversizedJson(text: string, { depth: deepest, members: most } = bodyBounds): string | undefined {
  if (text.length <= deepest) return undefined
  /** By depth: how many commas an object has had; negative for an array. */
  const commas = new Int32Array(deepest + 1)
  let depth = 0
  let isQuoted = false
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (isQuoted) {
      if (character === BACKSLASH) index++
      else if (character === QUOTE) isQuoted = false
    } else if (character === QUOTE) isQuoted = true
    else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      depth++
      if (depth > deepest) return `is nested deeper than ${deepest} levels`
      commas[depth] = character === OPEN_OBJECT ? 0 : -1
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) depth = Math.max(0, depth - 1)
    else if (character === COMMA) {
      const before = commas[depth] ?? -1
      if (before < 0) continue
      if (before + 1 >= most) return `has an object of more than ${most} members`
      commas[depth] = before + 1
    }
  }
  return undefined
}

/**
 * Whether something in `value`, which JSON.parse made of `text`, has a member `__proto__`. A loop, and only where the text may
 * spell the name: a reviver would be called for every value of a body, a microsecond or two each time.
 */
export function hasPrototypeMember(text: string, value: unknown): boolean {
  if (!text.includes('__proto__') && !text.includes('\\u')) return false
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one !== 'object' || one === null) continue
    if (Object.hasOwn(one, '__proto__')) return true
    for (const part of Object.values(one)) if (typeof part === 'object') waiting.push(part)
  }
  return false
}

/** What of `value`, which JSON.parse made, goes beyond `bounds`, as the reason of a fault; undefined where nothing does. */
export function exceedsLimits(value: unknown, bounds: Partial<JsonLimits>): string | undefined {
  const { depth: deepest = Infinity, values: most = Infinity, elements = Infinity } = bounds
  const { length: longest = Infinity, nameLength = Infinity } = bounds
  const waiting: unknown[] = [value]
  const depths: number[] = [0]
  let values = 0
  let length = 0
  while (waiting.length > 0) {
    const one = waiting.pop()
    const depth = depths.pop() ?? 0
    if (typeof one === 'string') length += one.length
    if (typeof one !== 'object' || one === null) values++
    else {
      if (depth >= deepest) return `is nested deeper than ${deepest} levels`
      if (Array.isArray(one) && one.length > elements) return `has a list of more than ${elements} elements`
      const names = Array.isArray(one) ? [] : Object.keys(one)
      const inner: readonly unknown[] = Object.values(one)
      if (inner.length === 0) values++
      // Everything that waits holds one value at least.
      if (values + waiting.length + inner.length > most) return `has more than ${most} values`
      for (const name of names) {
        if (name.length > nameLength) return `has a name longer than ${nameLength} characters`
        length += name.length
      }
      for (const part of inner) {
        waiting.push(part)
        depths.push(depth + 1)
      }
    }
    if (values > most) return `has more than ${most} values`
    if (length > longest) return `is longer than ${longest} characters`
  }
  return undefined
}
