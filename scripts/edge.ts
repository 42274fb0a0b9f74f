/**
 * Stands before the Worker of a local run as Cloudflare's edge does: it takes in all of a request's body, also what the
 * Worker does not read. A client that is refused while it sends would otherwise find the connection broken instead of
 * its answer.
 */
export const edge = `export default {
  async fetch(request, { WORKER }) {
    if (request.body === null) return WORKER.fetch(request)
    const length = request.headers.get('Content-Length')
    const { readable, writable } = length === null ? new IdentityTransformStream() : new FixedLengthStream(+length)
    const answer = WORKER.fetch(new Request(request, { body: readable }))
    await takeIn(request.body, writable.getWriter(), answer)
    return answer
  },
}

// What comes after the answer, or after the Worker has left off reading, goes nowhere.
async function takeIn(body, writer, answer) {
  let isRead = true
  const stop = () => {
    isRead = false
  }
  const answered = answer.then(stop, stop)
  try {
    for await (const piece of body) if (isRead) await Promise.race([writer.write(piece).catch(stop), answered])
    if (isRead) await Promise.race([writer.close().catch(stop), answered])
  } catch (cause) {
    writer.abort(cause).catch(stop)
    throw cause
  }
}`
