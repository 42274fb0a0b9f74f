/** Requests of a project that asks by the client, in the runtime that the project names; any other asks by itself. */
import { inject } from 'vitest'
import { type Asking, openRuntime, type Runtime } from './runtimes.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the client runs that requests of the suite go through. */
    through?: Runtime
  }
}

/** One for each process, whether its files share modules or not. */
const shared = globalThis as { askingThrough?: Promise<Asking> }

/** The client in the runtime of this project. */
export function askingThrough(runtime: Runtime, page: string): Promise<Asking> {
  shared.askingThrough ??= openRuntime(runtime, page)
  return shared.askingThrough
}

const methods = ['GET', 'QUERY', 'POST', 'PATCH', 'DELETE']

/** What of a workspace is of its items. */
const ofItems = /^\/api\/\w+\/(items|aggregates)\b/

/** `page` is an address that serves an empty page. */
export function fetchThrough(origin: string, page: string): typeof fetch {
  const runtime = inject('through')
  if (runtime === undefined) return fetch
  return async (url, init = {}) => {
    const path = String(url).slice(origin.length)
    const { method = 'GET', body } = init
    const isSupported = String(url).startsWith(origin) && ofItems.test(path) && methods.includes(method)
    const headers = (init.headers ?? {}) as Readonly<Record<string, string>>
    // A page cannot choose it.
    if (!isSupported || !canBeSent(body) || 'Accept-Encoding' in headers) return fetch(url, init)
    const ask = await askingThrough(runtime, page)
    const answer = await ask({ method, origin, path, headers, ...(body != null && { body: String(body) }) })
    return new Response(answer.body === '' ? null : answer.body, {
      status: answer.status,
      headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
    })
  }
}

/** The client sends JSON as `JSON.stringify` writes it, or nothing. */
function canBeSent(body: unknown): boolean {
  if (body === undefined || body === null) return true
  try {
    return JSON.stringify(JSON.parse(String(body))) === body
  } catch {
    return false
  }
}
