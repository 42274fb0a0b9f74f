/**
 * What a form of files (multipart/form-data, RFC 7578) may be, looked at before it is parsed: parsers make an object of each part and of each
 * parameter of its headers, and take seconds for millions of them.
 */
import { assetFault } from './file-name.ts'

/** `; name=value` or `; name="value"`. */
const PARAMETER = /;[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"([^"\\]*)"|([^\s";]*))[ \t]*/y

/** RFC 2046, section 5.1.1. */
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/

/** Bytes of the headers of a part, which are the names of its field and its file. */
const LONGEST_HEAD = 4096

/**
 * Returns the boundary that `contentType` names, and undefined where it is not that of a form. Throws 422 where it names none, several, or
 * what parsers could read in two ways.
 */
export function formBoundary(contentType: string): string | undefined {
  const [type = ''] = /^multipart\/form-data[ \t]*(?=;|$)/i.exec(contentType) ?? []
  if (type === '') return undefined
  const boundaries: string[] = []
  PARAMETER.lastIndex = type.length
  let end = type.length
  for (let found = PARAMETER.exec(contentType); found !== null; found = PARAMETER.exec(contentType)) {
    const [, name = '', quoted, plain = ''] = found
    if (name.toLowerCase() === 'boundary') boundaries.push(quoted ?? plain)
    end = PARAMETER.lastIndex
  }
  const [boundary = '', ...others] = boundaries
  if (end === contentType.length && others.length === 0 && BOUNDARY.test(boundary)) return boundary
  throw assetFault(
    'Content-Type',
    'must name one boundary, as in multipart/form-data; boundary=abc, of at most 70 characters',
  )
}

/** Looks at a form. Both throw 422. */
export type FormBounds = {
  /** Takes its bytes as they come, in time that grows with their number alone. */
  take(bytes: Uint8Array): void
  /** Behind the last byte. */
  end(): void
}

/**
 * Refuses a form of more than `most` parts, or with a part that has more than 4 KiB of headers; and what parsers read in several ways:
 * lines of boundaries and headers that end otherwise than by CRLF, the text of the boundary within a part, and anything before the first
 * boundary or behind the last one.
 */
export function formBounds(boundary: string, most: number): FormBounds {
  const separator = `--${boundary}`
  const separates = endOf(separator)
  const endsHead = endOf('\r\n\r\n')
  let place: 'content' | 'line' | 'head' | 'closed' = 'content'
  let [at, before, parts] = [0, 0, 0]
  /** Where the line of the content began. */
  let line = 0
  /** Bytes since the place was entered. */
  let length = 0

  function enter(next: typeof place): void {
    place = next
    length = 0
  }

  function takeContent(byte: number): void {
    if (byte === LF && before === CR) line = at
    const isBoundary = separates(byte)
    if (isBoundary ? at - line !== separator.length : parts === 0 && at >= separator.length) throw noForm()
    if (isBoundary) enter('line')
  }

  function takeLine(byte: number): void {
    if (length < 2) return
    const isLast = before === DASH && byte === DASH
    if (!isLast && (before !== CR || byte !== LF)) throw noForm()
    parts += isLast ? 0 : 1
    if (parts > most) throw assetFault('body', `has more than ${most} files, the items that a request creates at most`)
    enter(isLast ? 'closed' : 'head')
  }

  function takeHead(byte: number): void {
    if ((byte === LF) !== (before === CR)) throw noForm()
    if (endsHead(byte)) {
      // The end of its headers begins no line of a part.
      line = -1
      enter('content')
    } else if (length > LONGEST_HEAD) throw assetFault('body', 'has a part whose headers are longer than 4 KiB')
  }

  function takeClosed(byte: number): void {
    if (length > 2 || byte !== (length === 1 ? CR : LF)) throw noForm()
  }

  const takers = { content: takeContent, line: takeLine, head: takeHead, closed: takeClosed }
  return {
    take(bytes) {
      for (const byte of bytes) {
        at += 1
        length += 1
        takers[place](byte)
        before = byte
      }
    },
    end() {
      if (place !== 'closed') throw noForm()
    },
  }
}

const [CR, LF, DASH] = [13, 10, 45]

function noForm() {
  return assetFault(
    'body',
    'is no form of multipart/form-data, whose boundaries stand on lines of their own that end by CRLF',
  )
}

/** Says of each byte whether `text` ends with it; Knuth, Morris and Pratt's. */
function endOf(text: string): (byte: number) => boolean {
  const pattern = new TextEncoder().encode(text)
  /** Of each beginning of the pattern, how long the longest is that it ends with, too. */
  const shorter = new Uint8Array(pattern.length)
  const next = (matched: number, byte: number) => {
    let length = matched
    while (length > 0 && pattern[length] !== byte) length = shorter[length - 1] ?? 0
    return pattern[length] === byte ? length + 1 : length
  }
  for (let at = 1; at < pattern.length; at += 1) shorter[at] = next(shorter[at - 1] ?? 0, pattern[at] ?? 0)
  let matched = 0
  return (byte) => {
    matched = next(matched, byte)
    if (matched < pattern.length) return false
    matched = 0
    return true
  }
}
