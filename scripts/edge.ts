/**
 * Stands before the Worker of a local run as Cloudflare's edge does: it refuses what is no request, leaves out the body of
 * a GET, and takes in all of a request's body, also what the Worker does not read. A client that is refused while it sends
 * would otherwise find the connection broken instead of its answer.
 */
export const edge = `export default {
  async fetch(request, { WORKER }) {
    const isForwarded = request.body !== null && request.method !== 'GET' && request.method !== 'HEAD'
    const forwarded = isForwarded ? bodyOf(request) : { request: withoutBody(request) }
    const answer = isHttp(request) ? WORKER.fetch(forwarded.request) : Promise.resolve(invalid())
    if (request.body === null) return answer
    await takeIn(request.body, forwarded.writer, answer)
    return answer
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

// What comes after the answer, or after the Worker has left off reading, goes nowhere.
async function takeIn(body, writer, answer) {
  let isRead = writer !== undefined
  const stop = () => {
    isRead = false
  }
  const answered = answer.then(stop, stop)
  try {
    for await (const piece of body) if (isRead) await Promise.race([writer.write(piece).catch(stop), answered])
    if (isRead) await Promise.race([writer.close().catch(stop), answered])
  } catch (cause) {
    writer?.abort(cause).catch(stop)
    throw cause
  }
}`
