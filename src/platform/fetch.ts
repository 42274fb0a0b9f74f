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
