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

/**
 * Returns a check that takes a form as its bytes come, in time that grows with their number alone. It throws 422 where they are of more than
 * `most` parts, or where a part has more than 4 KiB of headers.
 */
export function formBounds(boundary: string, most: number): (bytes: Uint8Array) => void {
  const separates = endOf(`--${boundary}`)
  const endsHead = endOf('\r\n\r\n')
  // The last boundary ends the form.
  let parts = -1
  let head: number | undefined
  return (bytes) => {
    for (const byte of bytes) {
      if (head !== undefined) {
        head += 1
        if (endsHead(byte)) head = undefined
        else if (head > LONGEST_HEAD) throw assetFault('body', 'has a part whose headers are longer than 4 KiB')
      }
      if (!separates(byte)) continue
      parts += 1
      if (parts > most)
        throw assetFault('body', `has more than ${most} files, the items that a request creates at most`)
      head = 0
    }
  }
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
