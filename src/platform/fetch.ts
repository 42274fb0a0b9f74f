/** The `fetch` given to a driver or client; its implementation decides which addresses are allowed. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

export type FetchLimits = {
  /** Milliseconds until the request, or reading its body, fails with a TimeoutError. */
  readonly timeLimit: number
  /** By default the platform's `fetch`. */
  readonly wayOut?: Fetch | undefined
}

/** Asks a service outside once. A redirect is returned, not followed, so that nothing is sent to another host. */
export function limitedFetch(url: string, init: RequestInit, { timeLimit, wayOut }: FetchLimits): Promise<Response> {
  const limited: RequestInit = { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeLimit) }
  return wayOut === undefined ? fetch(url, limited) : wayOut(url, limited)
}

/** Reads a body; undefined where it is larger than `largest` bytes, of which no more is read then. */
export async function readBounded({ body }: Response, largest: number): Promise<Blob | undefined> {
  if (body === null) return new Blob()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.byteLength
    if (length > largest) {
      await reader.cancel()
      return undefined
    }
    chunks.push(part.value)
  }
  return new Blob(chunks)
}
