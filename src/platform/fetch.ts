/** The `fetch` given to a driver; its implementation decides which addresses are allowed. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>
