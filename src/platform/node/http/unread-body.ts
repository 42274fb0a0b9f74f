/**
 * Requests that are answered while their body is still arriving, such as one that is too large. A connection that were
 * closed then would be reset by the bytes that nobody reads, and the client would never see why it was refused. So what
 * comes is read and thrown away, for a while and up to an amount.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Milliseconds after the answer. */
const LONGEST = 30_000
const MOST_BYTES = 64 * 1024 * 1024
const STEP = 100

/** To be called before `response` is used. */
export function discardUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  // Ahead of what Node does when an answer is sent.
  response.prependOnceListener('finish', () => {
    if (!request.complete && !request.socket.destroyed) discard(request)
  })
}

function discard(request: IncomingMessage): void {
  const { socket } = request
  let isLast = false
  // How Node ends a connection after its last answer: only our half for now.
  const endHalf = () => {
    isLast = true
    socket.end()
  }
  socket.destroySoon = endHalf
  request.resume()
  const until = performance.now() + LONGEST
  const most = socket.bytesRead + MOST_BYTES
  const looking = setInterval(() => {
    const isOver = performance.now() > until || socket.bytesRead > most
    if (!request.complete && !socket.destroyed && !isOver) return
    clearInterval(looking)
    if (isOver || isLast) socket.destroy()
    else if (socket.destroySoon === endHalf) Reflect.deleteProperty(socket, 'destroySoon')
  }, STEP)
  looking.unref()
}
