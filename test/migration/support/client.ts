/** The administrator of an instance, who sends requests to any of its processes. */
import type { SqlDriver } from '../../../src/ports/database.ts'
import { loadModel } from '../../../src/store/models.ts'

export type Answer = { readonly status: number; readonly body: unknown }

/** Sends one request to a path and answers what came back, read as JSON. */
export type Send = (method: string, path: string, body?: unknown) => Promise<Answer>

export type Client = {
  readonly workspace: (apiName: string) => Promise<Workspace>
  /** The same administrator at another process. */
  readonly at: (url: string) => Client
  readonly send: Send
}

export type Workspace = { readonly id: string; readonly apiName: string; readonly sourceId: string }

export type Account = { readonly email: string; readonly password: string }

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Signs in at `url`. */
export async function signIn(credentials: Account, url: string, request: Fetch = fetch): Promise<Client> {
  const answer = await sender(request, url, '')('POST', '/api/auth/login', { credentials, mode: 'json' })
  const { accessToken } = answer.body as { accessToken: string }
  return client(url, accessToken, request)
}

/** Whoever presents that token at `url`. */
export function client(url: string, token: string, request: Fetch = fetch): Client {
  const send = sender(request, url, token)
  const at = (address: string) => client(address, token, request)
  return { send, at, workspace: (apiName) => createWorkspace(send, apiName) }
}

async function createWorkspace(send: Send, apiName: string): Promise<Workspace> {
  const created = await send('POST', '/api/system/workspaces', { apiName })
  const sources = await send('GET', `/api/${apiName}/items/ServiceDataSource?fields=id`)
  const { data: workspace } = created.body as { data: { id: string } }
  const { data } = sources.body as { data: readonly [{ id: string }] }
  return { id: workspace.id, apiName, sourceId: data[0].id }
}

function sender(request: Fetch, url: string, token: string): Send {
  return async (method, path, body) => {
    const response = await request(url + path, {
      method,
      headers: {
        ...(token !== '' && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}

export function migrate({ send }: Pick<Client, 'send'>, { apiName }: Workspace, ...operations: readonly object[]) {
  return send('POST', `/api/${apiName}/schema/migrate`, { operations })
}

/** What an import of the workspace's own schema finds that the model does not say; it must be nothing. */
export function introspect({ send }: Pick<Client, 'send'>, { apiName, sourceId }: Workspace) {
  return send('POST', `/api/${apiName}/schema/introspect/${sourceId}`)
}

export async function storedModel(database: SqlDriver, workspace: Workspace) {
  const loaded = await loadModel(database, workspace)
  if (loaded === undefined) throw new Error(`${workspace.apiName} has no model`)
  return loaded
}
