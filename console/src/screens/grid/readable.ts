/** Values as a person reads them in a cell. What is copied and typed is their text in the API (values.ts). */
import { numberText } from '../../data/exact-json.ts'

type Shape = { readonly type: string; readonly isList: boolean }

export const DATE_TIME = /^([+-]\d{6,}|\d{4})-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i

/** Whether values of this type are right where they end, as numbers are. */
export function isNumber({ type, isList }: Shape): boolean {
  return !isList && /^(u?int|float|decimal)/.test(type)
}

/** Characters, more than any cell shows; the editor has all of them. */
const ROOM = 400

/** Values, more than any cell shows. */
const MOST = 24

/**
 * An instant in the reader's own zone, to its last digit, which may be typed so. A list as its values, with commas between them,
 * JSON with its braces and brackets: a text that could be read as anything else is in quotes.
 */
export function readableOf({ type, isList }: Shape, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (isList || type === 'json' || typeof value === 'object')
    return outline(value, { isTyped: isList && type !== 'json' })
  const text = String(value)
  if (!type.startsWith('dateTime') || !DATE_TIME.test(text)) return text
  return (type === 'dateTime' ? text : inOwnZone(text)).replace('T', ' ')
}

function inOwnZone(text: string): string {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) return text
  const offset = -at.getTimezoneOffset()
  const own = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, -5)
  const [fraction = ''] = /\.\d+/.exec(text) ?? []
  const two = (number: number) => String(number).padStart(2, '0')
  const minutes = Math.abs(offset)
  return `${own}${fraction}${offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`
}

/** The values of a list, each as `readableOf` writes it between commas; undefined for whatever is no list of plain values. */
export function valuesIn({ type, isList }: Shape, value: unknown): readonly string[] | undefined {
  if (!isList || type === 'json' || !Array.isArray(value) || value.length === 0 || value.length > MOST) return undefined
  if (value.some(Array.isArray)) return undefined
  return value.map((one) => outline(one, { isTyped: true }))
}

/** `isTyped`: all values of the list are of one type, which the column says. */
function outline(whole: unknown, { isTyped }: { readonly isTyped: boolean }): string {
  let text = ''
  const write = (value: unknown, isWhole: boolean) => {
    if (text.length > ROOM) return
    if (typeof value === 'string') text += plain(value.slice(0, ROOM + 1), isTyped)
    else if (Array.isArray(value)) {
      const isBare = isWhole && isTyped && value.length > 0
      each(value, isBare ? ['', ''] : ['[', ']'], (one) => write(one, false))
    } else if (typeof value === 'object' && value !== null && numberText(value) === undefined) {
      each(Object.entries(value), ['{', '}'], ([name, one]) => {
        text += `${plain(name, false)}: `
        write(one, false)
      })
    } else text += numberText(value) ?? String(value)
  }
  const each = <T>(all: readonly T[], [open, close]: readonly [string, string], writeOne: (one: T) => void) => {
    text += open
    for (const [at, one] of all.entries()) {
      if (text.length > ROOM) return
      if (at > 0) text += ', '
      writeOne(one)
    }
    text += close
  }
  write(whole, true)
  return text.length > ROOM ? `${text.slice(0, ROOM).replace(/[\ud800-\udbff]$/, '')}…` : text
}

/** As it is, where that can be nothing else. */
function plain(text: string, isTyped: boolean): string {
  const isUnclear = text === 'null' || text.trim() !== text || text === '' || /[,"\p{Cc}]/u.test(text)
  const isOther = !isTyped && (/[:{}[\]]/.test(text) || /^(true|false|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i.test(text))
  return isUnclear || isOther ? JSON.stringify(text) : text
}
