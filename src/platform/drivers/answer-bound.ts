/**
 * Bounds what a driver receives for a request of a caller, where the database sends rows one by one and so cannot bound
 * an answer itself: the rest is never read.
 */
import type { Duplex } from 'node:stream'
import { MAX_TEXT } from '../../core/sql/answer-bound.ts'
import { SqlFault, TOO_LARGE } from '../../core/sql/fault.ts'

export const tooLarge = () => new SqlFault('the answer is too large', { state: TOO_LARGE })

/**
 * Maximum bytes that a database may send for one answer, whatever was asked and whoever asks: a list in pieces has four
 * times MAX_TEXT. A database that keeps to the protocol is bounded by its statement before.
 */
export const MAX_RECEIVED = 5 * MAX_TEXT

/** Bytes that a row counts for beyond its own, since many empty ones fill the memory, too. */
export const ROW_WEIGHT = 100

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

/** In JSON, base64 and the length of each value take less than half as much again. */
const MAX_BODY = MAX_TEXT * 1.5

/**
 * Returns a function that passes responses on. If their bodies have more bytes together than an answer may have, reading
 * rejects with SqlFault TOO_LARGE, and the request is cancelled.
 */
export function bodyBound(): (response: Response) => Response {
  let received = 0
  return ({ body, status, statusText }) => {
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received += chunk.length
        if (received > MAX_BODY) throw tooLarge()
        controller.enqueue(chunk)
      },
    })
    return new Response(body?.pipeThrough(counting) ?? null, { status, statusText })
  }
}
