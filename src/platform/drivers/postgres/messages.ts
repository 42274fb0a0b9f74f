/**
 * What a server of the Postgres protocol sends, in whole messages: none is longer than it may be, what `pg` would read
 * without end is refused, and so is an answer whose rows would not fit. A server from outside sends what it likes.
 */
import { MAX_RECEIVED, type Received, ROW_WEIGHT, tooLarge } from '../answer-bound.ts'

/**
 * Returns a function that takes chunks and returns the messages that are complete with each. Their bytes are copied only
 * where a message came in several chunks, and into a buffer of their length, so that nothing behind them can be read.
 * Throws SqlFault TOO_LARGE, before it is in memory, for a message or rows of one answer that are too large; `received`
 * counts those rows.
 */
export function wholeMessages(received: Received): (chunk: Buffer) => Buffer | undefined {
  let parts: Buffer[] = []
  let length = 0
  let wanted = HEADER

  /** Refuses the message that begins at `start`, or returns where it ends. */
  function endOf(bytes: Buffer, start: number): number {
    const size = 1 + bytes.readUInt32BE(start + 1)
    if (size < HEADER) throw new Error('a message without a length')
    const type = bytes[start]
    if (type === READY && !received.isOne) received.bytes = 0
    if (received.bytes + size > MAX_RECEIVED) throw tooLarge()
    return start + size
  }

  function check(bytes: Buffer, start: number, end: number): void {
    const type = bytes[start]
    if (type === ROW || type === DESCRIPTION) received.bytes += end - start + ROW_WEIGHT
    // Its fields end with a zero where the next would begin.
    const isList = type === ERROR || type === NOTICE
    if (
      isList &&
      (bytes[end - 1] !== 0 || (end - start > HEADER + 1 && bytes[end - 2] !== 0) || end - start === HEADER)
    ) {
      throw new Error('a message without an end')
    }
  }

  return (chunk) => {
    parts.push(chunk)
    length += chunk.length
    if (length < wanted) return undefined
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts, length)
    let start = 0
    wanted = HEADER
    while (start + HEADER <= length) {
      const end = endOf(bytes, start)
      if (end > length) {
        wanted = end - start
        break
      }
      check(bytes, start, end)
      start = end
    }
    parts = start === length ? [] : [bytes.subarray(start)]
    length -= start
    return start === 0 ? undefined : bytes.subarray(0, start)
  }
}

/** The type and the length, which counts itself. */
const HEADER = 5

const [ROW, DESCRIPTION, READY, ERROR, NOTICE] = Buffer.from('DTZEN')
