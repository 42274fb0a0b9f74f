/**
 * A Node server of a test's own over a Postgres of its own, with one workspace that holds a drawing. Faults that the
 * server would tell an operator are collected.
 */
import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startNode } from '../../../handlers/node.ts'
import type { Observation } from '../../../src/ports/observe.ts'
import { type Drawing, operationsOf } from '../data/model-sketch.ts'
import { startPostgres } from '../servers/postgres.ts'
import { generousLicense } from './license.ts'
import { tokenIn } from './mailed-token.ts'
import { quickHashing } from './quick-hashing.ts'

export type NodeService = {
  readonly url: string
  /** Path of the workspace's item routes. */
  readonly items: string
  readonly token: string
  /** Whose token that is. */
  readonly administrator: { readonly email: string; readonly password: string }
  readonly databaseUrl: string
  /** The schema that holds the workspace's tables. */
  readonly schema: string
  readonly faults: readonly Observation[]
  /** Sends one request to a path below `items` and answers what came back, read as JSON. */
  send(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>
  /** The access token of a member whose role brings these policies. */
  member(...policies: readonly object[]): Promise<string>
  closeServer(): Promise<void>
  close(): Promise<void>
}

/** `variables` go beside those that every such server has; with the folder of a built console it is served. */
export async function startService(
  workspace: string,
  drawing: Drawing,
  variables: Readonly<Record<string, string>> = {},
  consoleFolder?: string,
): Promise<NodeService> {
  const postgres = await startPostgres()
  const credentials = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') }
  const faults: Observation[] = []
  /** The last mail to each address. */
  const mails = new Map<string, string>()
  const server = await startNode({
    passwords: quickHashing,
    consoleFolder,
    environment: {
      ...(await generousLicense()),
      SERVICE_DATABASE_URL: postgres.url,
      SERVICE_SECRET: randomBytes(32).toString('base64url'),
      SERVICE_ADMIN__EMAIL: credentials.email,
      SERVICE_ADMIN__PASSWORD: credentials.password,
      SERVICE_ACCESS_TOKEN_TTL: '1h',
      SERVICE_MAIL__URL: 'log:',
      SERVICE_FILES__STORE: 'database',
      PORT: '0',
      ...variables,
    },
    observe: (observation) => {
      if (observation.kind === 'mail') mails.set(observation.mail.to, observation.mail.text)
      else if (!['request', 'slow', 'drift'].includes(observation.kind)) faults.push(observation)
    },
  })
  const send = async (method: string, address: string, token: string, body?: unknown) => {
    const response = await fetch(address, {
      method,
      headers: {
        ...(token !== '' && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }
  const must = async (method: string, path: string, token: string, body?: unknown): Promise<unknown> => {
    const answer = await send(method, server.url + path, token, body)
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const login = async (account: typeof credentials) => {
    const answer = await must('POST', '/api/auth/login', '', { credentials: account, mode: 'json' })
    return (answer as { accessToken: string }).accessToken
  }
  const token = await login(credentials)
  const make = async (path: string, body: object) => {
    const answer = await must('POST', `/api/${workspace}/${path}`, token, body)
    return (answer as { data: { id: string } }).data
  }
  await must('POST', '/api/system/workspaces', token, { apiName: workspace })
  const sources = await must('GET', `/api/${workspace}/items/ServiceDataSource?fields=id`, token)
  const [source] = (sources as { data: { id: string }[] }).data
  await must('POST', `/api/${workspace}/schema/migrate`, token, { operations: operationsOf(drawing, source?.id ?? '') })
  const items = `/api/${workspace}/items/`
  let closing: Promise<void> | undefined
  const closeServer = () => {
    closing ??= server.close()
    return closing
  }
  return {
    url: server.url,
    items,
    token,
    administrator: credentials,
    databaseUrl: postgres.url,
    schema: `service_${workspace}_data`,
    faults,
    send: (method, path, body) => send(method, server.url + items + path, token, body),
    async member(...policies) {
      const account = { email: `${randomBytes(8).toString('hex')}@example.com`, password: credentials.password }
      const made = await Promise.all(
        policies.map((content, index) => make('policies', { name: `${account.email} ${index}`, content })),
      )
      const role = await make('roles', { name: account.email, policies: made.map(({ id }) => id) })
      await make('invitations', { email: account.email, workspace_roles: [role.id] })
      while (!mails.has(account.email)) await nextTurn()
      const acceptance = { token: tokenIn(mails.get(account.email) ?? ''), password: account.password }
      await must('POST', '/api/auth/invitations/accept', '', acceptance)
      return login(account)
    },
    closeServer,
    async close() {
      await closeServer()
      await postgres.close()
    },
  }
}
