/**
 * Bounds what a driver receives, whatever a database sends, and for a caller where the database sends rows one by one and
 * so cannot bound an answer itself: the rest is never read.
 */
import type { Duplex } from 'node:stream'
import { MAX_TEXT } from '../../core/sql/answer-bound.ts'
import { SqlFault, TOO_LARGE } from '../../core/sql/fault.ts'

export const tooLarge = () => new SqlFault('the answer is too large', { state: TOO_LARGE })

/**
 * Maximum bytes that a database may send for one answer, or for those of one batch together, whatever was asked and
 * whoever asks: a list in pieces has four times MAX_TEXT. A database that keeps to the protocol is bounded by its
 * statement before.
 */
export const MAX_RECEIVED = 5 * MAX_TEXT

/** Bytes that a row counts for beyond its own, since many empty ones fill the memory, too. */
export const ROW_WEIGHT = 100

/** What a connection has received of one answer. */
export type Received = {
  bytes: number
  /** Whether the answers up to now and those to come belong together. */
  isOne: boolean
}

/** Returns the result of `work`, all of whose answers count as one on its connection. */
export async function asOneAnswer<T>(received: Received, work: () => Promise<T>): Promise<T> {
  received.bytes = 0
  received.isOne = true
  try {
    return await work()
  } finally {
    received.bytes = 0
    received.isOne = false
  }
}

/**
 * Returns the result of `work`, which reads from `socket`. If more bytes arrive than an answer may have, destroys the
 * socket, calls `end` and throws SqlFault TOO_LARGE, whatever becomes of `work`.
 */
export async function withinSocketBound<T>(work: Promise<T>, socket: Duplex, end: () => void): Promise<T> {
  const refused = Promise.withResolvers<never>()
  let received = 0
  const count = (chunk: Uint8Array) => {
    received += chunk.length
    if (received <= MAX_TEXT) return
    socket.off('data', count)
    socket.destroy()
    end()
    refused.reject(tooLarge())
  }
  socket.on('data', count)
  try {
    return await Promise.race([work, refused.promise])
  } finally {
    socket.off('data', count)
  }
}

/** Of what a caller asked of PlanetScale: base64 and the length of each value take less than half as much again. */
export const MAX_CALLER_BODY = MAX_TEXT * 1.5

/** Of what anybody asked: each character of a text takes two at most, since a JSON text has no others to escape. */
const MAX_BODY = 2 * MAX_RECEIVED

/**
 * Returns a function that passes responses on. If their bodies have more bytes together than `most`, where each row and
 * each object weighs ROW_WEIGHT more than it has, reading rejects with SqlFault TOO_LARGE, and the request is cancelled.
 */
export function bodyBound(most = MAX_BODY): (response: Response) => Response {
  let received = 0
  return ({ body, status, statusText }) => {
    const opened = openedIn()
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received += chunk.length + opened(chunk) * ROW_WEIGHT
        if (received > most) throw tooLarge()
        controller.enqueue(chunk)
      },
    })
    return new Response(body?.pipeThrough(counting) ?? null, { status, statusText })
  }
}

/** Returns a function that takes a JSON text in chunks and counts the arrays and objects that begin in each. */
function openedIn(): (chunk: Uint8Array) => number {
  let isText = false
  let isEscaped = false
  return (chunk) => {
    let opened = 0
    for (const byte of chunk) {
      if (isEscaped) isEscaped = false
      else if (byte === QUOTE) isText = !isText
      else if (isText) isEscaped = byte === BACKSLASH
      else if (byte === ARRAY || byte === OBJECT) opened += 1
    }
    return opened
  }
}

const [QUOTE, BACKSLASH, ARRAY, OBJECT] = [0x22, 0x5c, 0x5b, 0x7b]
