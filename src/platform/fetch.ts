/** The `fetch` that a driver uses; its provider decides which addresses are allowed. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>
