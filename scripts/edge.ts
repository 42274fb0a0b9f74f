/**
 * Stands before the Worker of a local run as Cloudflare's edge does: it takes in a request's body, also what the Worker
 * does not read. A client that is refused while it sends would otherwise find the connection broken instead of its
 * answer. What the Worker does not read is bounded as on Node (src/platform/node/http/unread-body.ts).
 */
export const edge = `export default {
  async fetch(request, { WORKER }) {
    if (request.body === null) return WORKER.fetch(request)
    const length = request.headers.get('Content-Length')
    const { readable, writable } = length === null ? new IdentityTransformStream() : new FixedLengthStream(+length)
    const answer = WORKER.fetch(new Request(request, { body: readable }))
    let isOver = false
    const over = takeIn(request.body, writable.getWriter(), answer).finally(() => {
      isOver = true
    })
    // Awaited later, if at all.
    over.catch(() => {})
    const response = await answer
    if (!isOver && response.body !== null) return endedAfter(over, response)
    await over
    return response
  },
}

// The connection ends with the answer, so a client that still sends gets the end of it when its body has been taken in.
function endedAfter(over, response) {
  const { readable, writable } = new IdentityTransformStream()
  const goes = async () => {
    await response.body.pipeTo(writable, { preventClose: true })
    await over
    await writable.close()
  }
  goes().catch((cause) => writable.abort(cause)).catch(() => {})
  return new Response(readable, response)
}

const LONGEST = 30_000
const MOST_BYTES = 64 * 1024 * 1024

// What comes after the answer, or after the Worker has left off reading, goes nowhere.
async function takeIn(body, writer, answer) {
  const until = Date.now() + LONGEST
  let isRead = true
  let unread = 0
  const stop = () => {
    isRead = false
  }
  const answered = answer.then(stop, stop)
  const over = answered.then(() => scheduler.wait(until - Date.now())).then(() => ({ done: true }))
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), over])
      if (done || unread > MOST_BYTES) break
      if (isRead) await Promise.race([writer.write(value).catch(stop), answered])
      else unread += value.byteLength
    }
    if (isRead) await Promise.race([writer.close().catch(stop), answered])
  } catch (cause) {
    writer.abort(cause).catch(stop)
    throw cause
  }
}`
