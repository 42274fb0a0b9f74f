/**
 * Reads JSON so that its numbers keep the text in which they were sent: one that a JavaScript number would change
 * becomes a raw number, which `JSON.stringify` writes as it was. Names are read as they were sent, too
 * (docs/decisions/137).
 */
import { endOfString } from './json-cut.ts'
import { endOfScalar, jsonFault } from './json-fault.ts'

/** A raw number takes a microsecond, in which nobody else is answered, and the memory of an object. */
const MAX_RAW_NUMBERS = 100_000

/** How many raw numbers a request may still bring, in all that is parsed of it. */
export type RawNumbers = { left: number }

/** What one request may bring. */
export function rawNumbers(): RawNumbers {
  return { left: MAX_RAW_NUMBERS }
}

export class TooManyRawNumbers extends Error {
  constructor() {
    super(
      `has more than ${MAX_RAW_NUMBERS} numbers of which every digit is kept; send them in parts, or as texts where their type takes these`,
    )
  }
}

/** Like `JSON.parse`, and throws like it; throws TooManyRawNumbers where there are more than `numbers` has left. */
export function parseExactJson(text: string, numbers: RawNumbers = { left: Infinity }): unknown {
  if (engine.rawJSON === undefined || !(mayChange.test(text) || hasEscapedName(text))) return JSON.parse(text)
  return readOrExplain(text, numbers)
}

/** Like `JSON.parse`, but for escaped names, which some engines take for others that were read before. */
export function parseJson(text: string): unknown {
  return hasEscapedName(text) ? readOrExplain(text) : JSON.parse(text)
}

function readOrExplain(text: string, numbers?: RawNumbers): unknown {
  try {
    return readWhole(text, numbers)
  } catch (error) {
    if (error instanceof TooManyRawNumbers) throw error
    // It says what is wrong with the text, and where.
    JSON.parse(text)
    throw error
  }
}

/** What a caller is told of `text`, at which `parseExactJson` threw. */
export function faultOfJson(text: string, error: unknown): string {
  return error instanceof TooManyRawNumbers ? error.message : jsonFault(text)
}

/** A raw number as JavaScript reads it; any other value as it is. */
export function plainNumber(value: unknown): unknown {
  return isRawNumber(value) ? Number(value.rawJSON) : value
}

/** Numbers as JavaScript reads them, at any depth but within members of the name `exact`. */
export function withPlainNumbers(value: unknown, exact?: string): unknown {
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
/** Longer texts may have more digits than a JavaScript number is sure to keep. */
const MAX_PLAIN = 15

/** Many digits, an exponent, a zero at the end of a fraction, or a negative zero; also in a text, where it costs time only. */
const mayChange =
  /(?:^|[:,[\s])-?(?:[0-9][0-9.]{15}|[0-9.]+[eE]|[0-9]+\.[0-9]*0(?![0-9])|0\.000000)|(?:^|[:,[\s])-0(?![.0-9])/

/** Whitespace, and what a value ends with. */
const [TAB, LINE, RETURN, SPACE, QUOTE, COMMA, COLON, LIST, LIST_END, ITEM, ITEM_END] = [
  9, 10, 13, 32, 34, 44, 58, 91, 93, 123, 125,
]

/**
 * Reads a JSON text; without `numbers` as JavaScript has them. A reviver of `JSON.parse` would take five times as long, in which nobody else is answered. Throws for what is no
 * JSON, and for what is nested deeper than the stack.
 */
function readWhole(text: string, numbers: RawNumbers | undefined): unknown {
  let at = 0

  function skip(): number {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== SPACE && code !== LINE && code !== RETURN && code !== TAB) return code
      at += 1
    }
  }

  function expect(code: number): void {
    if (skip() !== code) throw new SyntaxError()
    at += 1
  }

  function readText(): string {
    const from = at
    at = endOfString(text, from) + 1
    return JSON.parse(text.slice(from, at)) as string
  }

  function readScalar(): unknown {
    const from = at
    at = endOfScalar(text, from)
    if (at === from) throw new SyntaxError()
    if (numbers === undefined) return JSON.parse(text.slice(from, at))
    const value = scalarOf(text.slice(from, at))
    if (typeof value === 'object' && value !== null && --numbers.left < 0) throw new TooManyRawNumbers()
    return value
  }

  function readList(): unknown[] {
    const list: unknown[] = []
    at += 1
    if (skip() === LIST_END) at += 1
    else {
      for (;;) {
        list.push(readValue())
        if (skip() !== COMMA) break
        at += 1
      }
      expect(LIST_END)
    }
    return list
  }

  function readItem(): Record<string, unknown> {
    const item: Record<string, unknown> = {}
    at += 1
    if (skip() === ITEM_END) at += 1
    else {
      for (;;) {
        if (skip() !== QUOTE) throw new SyntaxError()
        const name = readText()
        expect(COLON)
        const value = readValue()
        if (name === '__proto__') Object.defineProperty(item, name, { value, ...own })
        else item[name] = value
        if (skip() !== COMMA) break
        at += 1
      }
      expect(ITEM_END)
    }
    return item
  }

  function readValue(): unknown {
    switch (skip()) {
      case QUOTE:
        return readText()
      case LIST:
        return readList()
      case ITEM:
        return readItem()
      default:
        return readScalar()
    }
  }

  const value = readValue()
  if (!Number.isNaN(skip())) throw new SyntaxError()
  return value
}

/** Whether a name of an object has an escaped character. */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    at = endOfString(text, at - 1) + 1
    endOfName.lastIndex = at
    if (endOfName.test(text)) return true
  }
  return false
}

const endOfName = /[ \t\n\r]*:/y

const own = { writable: true, enumerable: true, configurable: true }

function scalarOf(source: string): unknown {
  switch (source) {
    case 'true':
      return true
    case 'false':
      return false
    case 'null':
      return null
  }
  const value = Number(source)
  const digits = source.startsWith('-') ? source.length - 1 : source.length
  return digits <= MAX_PLAIN && source === String(value) ? value : engine.rawJSON?.(source)
}
