/** A request whose body is on its way for as long as a test likes. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

export type SlowRequest = {
  readonly method: string
  readonly url: string
  /** Access token or API key. */
  readonly token: string
  readonly body: object
}

/** Sends the first half of the body at once; what it answers sends the rest, and tells which status came of it. */
export function sendSlowly({ method, url, token, body }: SlowRequest): () => Promise<number> {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Transfer-Encoding': 'chunked',
  }
  const text = JSON.stringify(body)
  const half = Math.ceil(text.length / 2)
  const sending = request(url, { method, headers })
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>
  sending.write(text.slice(0, half))
  return async () => {
    sending.end(text.slice(half))
    const [response] = await answered
    response.resume()
    return response.statusCode ?? 0
  }
}
