/**
 * Handles requests answered while their body is still arriving, such as one that is too large. Closing the connection
 * would reset it because of the unread bytes, and the client would never see the response. So the rest is read and
 * discarded, up to a time and a size.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum milliseconds after the response. */
const LONGEST = 30_000
const MOST_BYTES = 64 * 1024 * 1024
const STEP = 100

/** Must be called before `response` is used. */
export function discardUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  // A request whose stream is destroyed has no socket any more.
  const { socket } = request
  // Runs before Node's own handler of a sent response.
  response.prependOnceListener('finish', () => {
    if (!request.complete && !socket.destroyed) discard(request, socket)
  })
}

function discard(request: IncomingMessage, socket: Socket): void {
  let isLast = false
  // Node's way to end a connection after its last response, but only our half for now.
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
