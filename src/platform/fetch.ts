/** The way out over HTTP that a driver is given: whoever gives it decides which addresses it leads to. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>
