/**
 * The parts of a form (multipart/form-data, RFC 7578), read as browsers and curl write them, and the same on every platform: those have
 * parsers that differ (decision 133).
 */
import { shortName } from '../message-text.ts'
import { assetFault } from './file-name.ts'

/** `; name=value` or `; name="value"`, of which `quoted` is what stands in quotes. */
function parameter(quoted: RegExp): RegExp {
  return new RegExp(`;[ \\t]*([\\w!#$%&'*+.^\`|~-]+)=(?:"(${quoted.source})"|([^\\s";\\\\]*))[ \\t]*`, 'y')
}

const PLAIN = parameter(/[^"\\]*/)
/** Browsers write a quote as `%22` and a backslash as it is, curl a quote as `\"`. */
const [BY_BROWSERS, BY_CURL] = [parameter(/[^"]*/), parameter(/(?:[^"\\]|\\"?)*/)]

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
  const parameters = parametersOf(contentType, type.length, PLAIN) ?? []
  const [boundary = '', ...others] = parameters.filter(([name]) => name === 'boundary').map(([, value]) => value)
  if (others.length === 0 && BOUNDARY.test(boundary)) return boundary
  throw assetFault(
    'Content-Type',
    'must name one boundary, as in multipart/form-data; boundary=abc, of at most 70 characters',
  )
}

/** The parameters from `start` to the end of the text, with names in small letters; undefined where that is anything else. */
function parametersOf(text: string, start: number, pattern: RegExp): (readonly [string, string])[] | undefined {
  const parameters: (readonly [string, string])[] = []
  let end = start
  pattern.lastIndex = start
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [, name = '', quoted, plain = ''] = found
    parameters.push([name.toLowerCase(), quoted ?? plain])
    end = pattern.lastIndex
  }
  return end === text.length ? parameters : undefined
}

type PartName = {
  readonly name: string
  /** Undefined where it is no file. */
  readonly fileName: string | undefined
}

/** What kind of file it is its bytes say, so that of its headers the names are all. */
export type FormPart = PartName & {
  /** In place, as they stand in the form. */
  readonly bytes: Uint8Array
}

/**
 * Returns the parts of a form, in time that grows with its bytes alone. Throws 422 for more than `most` parts, for one with more than
 * 4 KiB of headers, and for what parsers read in several ways: lines of boundaries and headers that end otherwise than by CRLF, anything
 * before the first boundary or behind the last one, headers that name a part twice, by `filename*` or not at all, and bytes that are encoded.
 */
export function formParts(form: Uint8Array, boundary: string, most: number): readonly FormPart[] {
  const delimiter = new TextEncoder().encode(`\n--${boundary}`)
  const find = searchOf(delimiter)
  const parts: FormPart[] = []
  if (!delimiter.subarray(1).every((byte, at) => form[at] === byte)) throw noForm()
  let at = delimiter.length - 1
  while (isNewline(form, at)) {
    if (parts.length === most) {
      throw assetFault('body', `has more than ${most} files, the items that a request creates at most`)
    }
    const place = `part ${parts.length + 1}`
    const start = endOfHead(form, at + 2, place)
    const names = namesOf(form.subarray(at + 2, start), place)
    // A boundary right behind the headers has their CRLF before it, which parsers take for theirs or for its.
    let end = find(form, start - 1)
    while (end > start - 1 && form[end - 1] !== CR && !endsLine(form, end + delimiter.length)) end = find(form, end + 1)
    at = end + delimiter.length
    if (end <= start || form[end - 1] !== CR || !endsLine(form, at)) {
      throw assetFault(place, 'must end before a line that is the boundary alone, with CRLF before and behind it')
    }
    parts.push({ ...names, bytes: form.subarray(start, end - 1) })
  }
  const rest = form.length - at
  if (form[at] !== DASH || form[at + 1] !== DASH || (rest !== 2 && (rest !== 4 || !isNewline(form, at + 2)))) {
    throw noForm()
  }
  return parts
}

const [LF, CR, DASH] = [10, 13, 45]

function isNewline(form: Uint8Array, at: number): boolean {
  return form[at] === CR && form[at + 1] === LF
}

/** Whether a line that is a boundary up to `at` would be one to any parser. */
function endsLine(form: Uint8Array, at: number): boolean {
  return form[at] === LF || isNewline(form, at) || (form[at] === DASH && form[at + 1] === DASH)
}

function noForm() {
  return assetFault(
    'body',
    'is no form of multipart/form-data, whose boundaries stand on lines of their own that end by CRLF',
  )
}

/**
 * Says where `pattern` is found first from a place on, -1 where nowhere. It is Horspool's search, which leaves out most bytes; with patterns
 * whose first byte is nowhere else in them, as a line end is not, its time grows with the bytes at worst.
 */
function searchOf(pattern: Uint8Array): (form: Uint8Array, from: number) => number {
  const last = pattern.length - 1
  const steps = new Uint8Array(256).fill(pattern.length)
  for (const [at, byte] of pattern.subarray(0, last).entries()) steps[byte] = last - at
  return (form, from) => {
    for (let at = from; at + last < form.length; at += steps[form[at + last] ?? 0] ?? 1) {
      let matched = 0
      while (matched <= last && form[at + matched] === pattern[matched]) matched += 1
      if (matched > last) return at
    }
    return -1
  }
}

/** Where the bytes of a part begin: behind its headers and the empty line. */
function endOfHead(form: Uint8Array, start: number, place: string): number {
  const head = form.subarray(0, start + LONGEST_HEAD)
  for (let at = start; ; ) {
    const end = head.indexOf(LF, at)
    if (end === -1 && head.length < form.length) throw assetFault(place, 'has headers that are longer than 4 KiB')
    if (end === -1) throw assetFault(place, 'must have headers, and an empty line behind them')
    if (end === at || form[end - 1] !== CR) throw assetFault(place, 'has a line of headers that does not end by CRLF')
    if (end === at + 1) return end + 1
    at = end + 1
  }
}

const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*((?:\t|\P{Cc})*)$/u

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function namesOf(head: Uint8Array, place: string): PartName {
  const dispositions: string[] = []
  for (const line of textOf(head, place).split('\r\n')) {
    if (line === '') continue
    const [, header, value = ''] = HEADER.exec(line) ?? []
    if (header === undefined) throw assetFault(place, `has no header in the line ${JSON.stringify(shortName(line))}`)
    if (/^content-disposition$/i.test(header)) dispositions.push(value)
    if (/^content-transfer-encoding$/i.test(header) && !/^(7bit|8bit|binary)[ \t]*$/i.test(value)) {
      throw assetFault(place, 'must have no Content-Transfer-Encoding but 7bit, 8bit and binary')
    }
  }
  const [disposition, ...others] = dispositions
  if (disposition === undefined || others.length > 0) throw assetFault(place, 'must have one Content-Disposition')
  const [type] = /^form-data[ \t]*(?=;|$)/i.exec(disposition) ?? []
  const start = type?.length ?? Infinity
  const parameters = parametersOf(disposition, start, BY_BROWSERS) ?? parametersOf(disposition, start, BY_CURL)
  if (parameters === undefined) {
    throw assetFault(place, 'must have a Content-Disposition as in form-data; name="file"; filename="a.txt"')
  }
  const values = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (name.includes('*')) throw assetFault(place, `must not have ${shortName(name)}, but filename in UTF-8`)
    if (values.has(name)) throw assetFault(place, `has ${shortName(name)} twice`)
    values.set(name, value.replaceAll('\\"', '"').replaceAll(/%(22|0A|0D)/gi, decodeURIComponent))
  }
  const name = values.get('name')
  if (name === undefined) throw assetFault(place, 'must have a name')
  return { name, fileName: values.get('filename') }
}

function textOf(head: Uint8Array, place: string): string {
  try {
    return utf8.decode(head)
  } catch {
    throw assetFault(place, 'has headers that are not UTF-8')
  }
}
