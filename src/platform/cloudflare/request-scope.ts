/** The current request of a Worker, so that what belongs to a request ends with it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestEnd } from '../drivers/lending.ts'

const requests = new AsyncLocalStorage<RequestEnd>()

/** Returns what runs when the current request ends; undefined outside of a request. */
export function currentRequest(): RequestEnd | undefined {
  return requests.getStore()
}

/** Runs `answer` as a request, which ends when it settles. */
export async function asRequest<T>(answer: () => T | Promise<T>): Promise<T> {
  const ending: RequestEnd = new Set()
  try {
    return await requests.run(ending, answer)
  } finally {
    for (const end of ending) end()
  }
}
