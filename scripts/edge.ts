/**
 * Stands before the Worker of a local run as Cloudflare's edge does: it refuses what is no request, leaves out the body of
 * a GET, and takes in a request's body, also what the Worker does not read. A client that is refused while it sends would
 * otherwise find the connection broken instead of its answer. What the Worker does not read is bounded as on Node
 * (src/platform/node/http/unread-body.ts).
 */
export const edge = `export default {
  async fetch(request, { WORKER }) {
    const isForwarded = request.body !== null && request.method !== 'GET' && request.method !== 'HEAD'
    const forwarded = isForwarded ? bodyOf(request) : { request: withoutBody(request) }
    const answer = isHttp(request) ? WORKER.fetch(forwarded.request) : Promise.resolve(invalid())
    if (request.body === null) return answer
    const reader = request.body.getReader()
    const hasEnded = await takeIn(reader, forwarded.writer, answer)
    const response = await answer
    return hasEnded || response.body === null ? response : endedLater(response, reader)
  },
}

// The address is made of the host and what stands in the place of a path, which need not be one.
function isHttp({ url, headers }) {
  const isHost = /^[^\\s/?#@\\\\]+$/.test(headers.get('Host') ?? '')
  return isHost && /^http:\\/\\/[^/?#*]+([/?#]|$)/.test(url) && URL.canParse(url)
}

const invalid = () => Response.json({ message: 'Invalid request' }, { status: 400 })

function bodyOf(request) {
  const length = request.headers.get('Content-Length')
  const { readable, writable } = length === null ? new IdentityTransformStream() : new FixedLengthStream(+length)
  return { request: new Request(request, { body: readable }), writer: writable.getWriter() }
}

function withoutBody(request) {
  if (request.body === null) return request
  const headers = new Headers(request.headers)
  headers.delete('Content-Length')
  headers.delete('Transfer-Encoding')
  return new Request(request.url, { method: request.method, headers, redirect: 'manual' })
}

const LONGEST = 30_000
const MOST_BYTES = 64 * 1024 * 1024

// Tells whether the body has ended. What comes after the answer, or after the Worker has left off reading, goes nowhere.
async function takeIn(reader, writer, answer) {
  let isRead = writer !== undefined
  let unread = 0
  const stop = () => {
    isRead = false
  }
  const answered = answer.then(stop, stop)
  const late = answered.then(() => scheduler.wait(LONGEST)).then(() => ({ isLate: true }))
  try {
    while (unread <= MOST_BYTES) {
      const { done, value, isLate } = await Promise.race([reader.read(), late])
      if (isLate) return false
      if (done) {
        if (isRead) await Promise.race([writer.close().catch(stop), answered])
        return true
      }
      if (isRead) await Promise.race([writer.write(value).catch(stop), answered])
      else unread += value.byteLength
    }
    return false
  } catch (cause) {
    writer?.abort(cause).catch(stop)
    throw cause
  }
}

// Milliseconds.
const FAREWELL = 2_000

// The connection is reset behind its answer where the client still sends, so it gets a while to read that.
function endedLater(response, reader) {
  const { readable, writable } = new IdentityTransformStream()
  const end = async () => {
    await response.body.pipeTo(writable, { preventClose: true })
    const over = scheduler.wait(FAREWELL).then(() => ({ done: true }))
    for (let unread = 0; unread <= MOST_BYTES; ) {
      const { done, value } = await Promise.race([reader.read(), over])
      if (done) break
      unread += value.byteLength
    }
    await writable.close()
  }
  end().catch((cause) => writable.abort(cause)).catch(() => {})
  return new Response(readable, response)
}`
