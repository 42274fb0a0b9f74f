/** One who sends requests to a server under test, with headers of their own. */
export type Client = {
  /** Sends one request; a body that is text already is sent as it is, anything else as JSON. `raw` is sent as fetch takes it. */
  send(
    method: string,
    path: string,
    request?: { body?: unknown; raw?: BodyInit; headers?: Record<string, string> },
  ): Promise<Response>
  get(path: string): Promise<Response>
  post(path: string, body: unknown): Promise<Response>
  patch(path: string, body: unknown): Promise<Response>
  delete(path: string): Promise<Response>
}

/**
 * Requests to addresses below `base`, with headers of their own, sent by `fetch` where that is given; `look` sees every
 * answer before the caller does.
 */
export function client(
  base: string,
  own: Record<string, string>,
  look: (method: string, url: string, response: Response) => Promise<void> = async () => {},
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Client {
  const send: Client['send'] = async (method, path, { body, raw, headers } = {}) => {
    const url = base + path
    const response = await fetch(url, {
      method,
      headers: { ...own, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(raw !== undefined && { body: raw }),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    await look(method, url, response)
    return response
  }
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, { body }),
    patch: (path, body) => send('PATCH', path, { body }),
    delete: (path) => send('DELETE', path),
  }
}
