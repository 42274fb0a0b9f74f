/** Streams of a known length whose bytes are read when somebody takes them. */

export type Pulled = {
  readonly length: number
  /** Reads some bytes behind the first `sent`. None means that there are no more. */
  readonly next: (sent: number) => Promise<Uint8Array>
  /** Called once: at the end, when an error ends the stream, or when it is cancelled. */
  readonly close?: () => Promise<void>
}

/** Returns a stream that errors where `next` throws, or has no more bytes before `length` are sent. */
export function pulled({ length, next, close = async () => {} }: Pulled): ReadableStream<Uint8Array> {
  let sent = 0
  let isClosed = false
  const end = async () => {
    if (isClosed) return
    isClosed = true
    await close()
  }

  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const bytes = await next(sent)
          // Whoever has left waits for nothing.
          if (isClosed) return
          if (bytes.byteLength === 0) throw new Error('a part of a file ended early')
          sent += bytes.byteLength
          controller.enqueue(bytes)
        } catch (cause) {
          await end()
          throw cause
        }
        if (sent < length) return
        await end()
        controller.close()
      },
      cancel: end,
    },
    // Nothing is read before somebody wants it.
    { highWaterMark: 0 },
  )
}
