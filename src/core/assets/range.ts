/** The header `Range` (RFC 9110, section 14): which parts of a file are asked for. */

/** The first and last byte, from 0. */
export type ByteRange = { readonly first: number; readonly last: number }

/** More ranges than these are answered by the whole file. */
const MOST_RANGES = 8

/**
 * Returns the ranges that there are of a file of `size` bytes, in the order in which they were asked for; `unsatisfiable`
 * where there is none of them, and undefined where the whole file is the answer: without a header, with one that cannot be
 * read or has another unit, and where the ranges are too many or together longer than the file.
 */
export function rangesOf(header: string | undefined, size: number): readonly ByteRange[] | 'unsatisfiable' | undefined {
  const list = /^bytes=(.*)$/i.exec(header?.trim() ?? '')?.[1]
  if (list === undefined) return undefined
  const specs = list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const ranges: ByteRange[] = []
  for (const one of specs) {
    const range = rangeOf(one, size)
    if (range === 'unreadable') return undefined
    if (range !== undefined) ranges.push(range)
  }
  if (specs.length === 0 || ranges.length > MOST_RANGES) return undefined
  if (ranges.length === 0) return 'unsatisfiable'
  const total = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  return total > size ? undefined : ranges
}

/** Undefined where the file has none of these bytes. */
function rangeOf(text: string, size: number): ByteRange | 'unreadable' | undefined {
  const [, start, end] = /^(\d{0,15})-(\d{0,15})$/.exec(text) ?? []
  if (start === undefined || end === undefined || (start === '' && end === '')) return 'unreadable'
  if (start === '') {
    const length = Math.min(Number(end), size)
    return length === 0 ? undefined : { first: size - length, last: size - 1 }
  }
  if (end !== '' && Number(end) < Number(start)) return 'unreadable'
  const last = end === '' ? size - 1 : Math.min(Number(end), size - 1)
  return Number(start) >= size ? undefined : { first: Number(start), last }
}
