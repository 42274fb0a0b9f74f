/**
 * What an upstream of a connector answers has an end: the runtime decodes gzip and Brotli of any length without a pause,
 * and open workerd bounds the memory of no isolate, so that a few megabytes could hold up everybody and fill the machine.
 */

/** Decoded bytes of one answer, or of one raw connection. An isolate has 128 MiB, so that more can only be streamed. */
const LONGEST_ANSWER = 256 * 1024 ** 2

const PIECE = 64 * 1024
/** After so many bytes others have their turn: what is decoded from what has arrived waits for nothing. */
const BEFORE_PAUSE = 1024 ** 2

/** The content codings that the runtime decodes, and would encode again. */
const decoded: readonly (string | null)[] = ['gzip', 'br']
const WITHOUT_BODY = [204, 205, 304]

/** The answer to a request of `method`, whose body fails beyond LONGEST_ANSWER and ends its upstream. */
export function boundedAnswer(method: string, response: Response): Response {
  const { body, status } = response
  if (body === null || method === 'HEAD' || response.webSocket !== null) return response
  if (WITHOUT_BODY.includes(status)) return new Response(null, response)
  const answer = new Response(bounded(body), response)
  if (decoded.includes(answer.headers.get('Content-Encoding'))) {
    answer.headers.delete('Content-Encoding')
    answer.headers.delete('Content-Length')
  }
  return answer
}

/** What `source` has, which fails, and ends its source, beyond LONGEST_ANSWER. */
export function bounded(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream()
  const [reader, writer] = [source.getReader({ mode: 'byob' }), writable.getWriter()]
  // Whoever reads has ended it, or hears of the fault by `readable`.
  const end = (fault: unknown) => Promise.allSettled([reader.cancel(fault), writer.abort(fault)])
  void pass(reader, writer).catch(end)
  return readable
}

async function pass(reader: ReadableStreamBYOBReader, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  let untilPause = BEFORE_PAUSE
  for (let left = LONGEST_ANSWER; ; ) {
    const { done, value } = await reader.read(new Uint8Array(PIECE))
    if (done) return writer.close()
    left -= value.byteLength
    untilPause -= value.byteLength
    if (left < 0) throw new Error(`The answer has more than ${LONGEST_ANSWER / 1024 ** 2} MiB`)
    await writer.write(value)
    if (untilPause > 0) continue
    untilPause = BEFORE_PAUSE
    await scheduler.wait(0)
  }
}
