/**
 * The one way to the service: its typed client, with the browser's session. Every answer that refuses is a hint that the
 * session may have ended, which `session.ts` then looks into.
 */
import { type Auth, type Client, cookie, createClient } from 'governed-data-client'
import { system as systemOf } from 'governed-data-client/system'
import { parseExactly } from './exact-json.ts'

/** Collections are not known when the console is built. */
export type AnySchema = Record<string, { read: Record<string, unknown>; key: string }>

const auth: Auth = cookie()

let onRefusal: () => void = () => {}

/** Called after each 401 and 403; there is one listener. */
export function whenRefused(listener: () => void): void {
  onRefusal = listener
}

const watched: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (response.status === 401 || response.status === 403) onRefusal()
  return response
}

const options = { auth, fetch: watched, timeout: 60_000 }

/** For one-time secrets, whose 401 is about them and not about a session that could be refreshed. */
export const visitor = createClient<AnySchema>(location.origin, {
  workspace: 'system',
  fetch: watched,
  timeout: 60_000,
})

const clients = new Map<string, Client<AnySchema>>()

/** The client of a workspace. */
export function clientOf(workspace: string): Client<AnySchema> {
  const client = clients.get(workspace) ?? createClient<AnySchema>(location.origin, { ...options, workspace })
  clients.set(workspace, client)
  return client
}

type Reading = { readonly query: object; readonly signal: AbortSignal }

/** An answer to GET whose numbers are as they were sent. Throws what fails. */
export async function readExactly<T>(workspace: string, path: string, reading: Reading): Promise<T> {
  return parseExactly(await readText(workspace, path, reading)) as T
}

/** An answer to GET as it was sent. Throws what fails. */
export async function readText(workspace: string, path: string, reading: Reading): Promise<string> {
  let text = ''
  const kept: typeof fetch = async (input, init) => {
    const response = await watched(input, init)
    text = await response.clone().text()
    return response
  }
  await clientOf(workspace)
    .$request('GET', path, { ...reading, fetch: kept })
    .orThrow()
  return text
}

/** For what belongs to no workspace. */
export const instance = clientOf('system')
export const system = systemOf(instance)
