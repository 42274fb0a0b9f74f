/**
 * Streams documents that are too long for the cache, built piece by piece as their clients read them. Each stream holds its
 * inputs in memory and a client may be slow, so the streams of a workspace and of all workspaces are limited.
 */
import { ServiceError } from '../../core/error.ts'
import type { Parts } from '../../core/parts.ts'
import { pause } from '../../ports/clock.ts'
import { inParts } from '../../sources/in-parts.ts'

export type LongStreams = {
  /** Throws 503 if too many streams are open. */
  open(workspaceId: string, pieces: Iterator<string>): ReadableStream<Uint8Array>
}

/** Maximum length of what is sent at once, in characters. */
const MAX_SENT = 64 * 1024
const MOST = 8
const MOST_OF_WORKSPACE = 4
/** Milliseconds without a read after which a client counts as disconnected, because Workers do not report it. */
const GONE = 60_000

export function createLongStreams(): LongStreams {
  const all = new Set<{ readonly workspaceId: string; seen: number }>()

  function requireRoom(workspaceId: string): void {
    const now = performance.now()
    for (const one of all) if (now - one.seen > GONE) all.delete(one)
    const own = [...all].filter((one) => one.workspaceId === workspaceId).length
    if (all.size < MOST && own < MOST_OF_WORKSPACE) return
    const message = 'Too many long documents are being sent, try again later'
    throw new ServiceError('unavailable', message, { meta: { retryAfter: 5 } })
  }

  return {
    open(workspaceId, pieces) {
      requireRoom(workspaceId)
      const own = { workspaceId, seen: performance.now() }
      all.add(own)
      const encoder = new TextEncoder()
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          own.seen = performance.now()
          await pause()
          const { texts, isWhole } = await inParts(taken(pieces, MAX_SENT))
          controller.enqueue(encoder.encode(texts.join('')))
          if (!isWhole) return
          all.delete(own)
          controller.close()
        },
        cancel() {
          all.delete(own)
        },
      })
    },
  }
}

type Taken = { readonly texts: string[]; readonly isWhole: boolean }

/** Takes pieces until the end, or until their length exceeds `most` characters. */
export function* taken(pieces: Iterator<string>, most: number): Parts<Taken> {
  const texts: string[] = []
  for (let length = 0; length <= most; ) {
    const { value, done } = pieces.next()
    if (done === true) return { texts, isWhole: true }
    texts.push(value)
    length += value.length
    yield
  }
  return { texts, isWhole: false }
}
