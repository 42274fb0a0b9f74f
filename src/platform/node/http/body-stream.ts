/** The body of a request as a web stream. */
import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'

/**
 * Returns one stream for each request, which reads nothing ahead and hands out the bytes as they arrived: `Readable.toWeb`
 * would copy each piece, which costs more than to receive it. What arrives when nobody holds the stream is dropped.
 */
export function bodyOf(incoming: IncomingMessage): () => ReadableStream<Uint8Array> {
  let stream: ReadableStream<Uint8Array> | undefined
  return () => {
    stream ??= streamOf(incoming)
    return stream
  }
}

function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isLeft = false
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        incoming.on('data', (piece: Uint8Array) => {
          if (isLeft || !stream.locked) return
          controller.enqueue(piece)
          incoming.pause()
        })
        finished(incoming, { writable: false }, (error) => {
          if (isLeft) return
          if (error) controller.error(error)
          else controller.close()
        })
        incoming.pause()
      },
      pull: () => void incoming.resume(),
      cancel() {
        isLeft = true
        incoming.resume()
      },
    },
    { highWaterMark: 0 },
  )
  return stream
}
