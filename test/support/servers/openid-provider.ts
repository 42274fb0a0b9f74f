/**
 * A real OpenID provider (`oidc-provider`) on loopback. Whoever comes is signed in at once as the account that the
 * request's header `X-Account` names and agrees to everything; the account `refuses` says no.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type InteractionResults } from 'oidc-provider'

export type OpenIdProvider = {
  readonly issuer: string
  readonly clientSecret: string
  /** What the provider knows of people, by subject. */
  readonly accounts: Map<string, Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

const HOUR = 3_600

/** `callbacks` by client id. */
export async function startOpenIdProvider(callbacks: Readonly<Record<string, string>>): Promise<OpenIdProvider> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clientSecret = randomBytes(24).toString('hex')
  const accounts: OpenIdProvider['accounts'] = new Map()

  const provider = new Provider(issuer, {
    clients: Object.entries(callbacks).map(([id, callback]) => ({
      client_id: id,
      client_secret: clientSecret,
      redirect_uris: [callback],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    })),
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...accounts.get(accountId) }) }),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    ttl: { Interaction: HOUR, Session: HOUR, Grant: HOUR, AccessToken: HOUR, IdToken: HOUR, AuthorizationCode: 60 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  })

  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response)
    const account = String(request.headers['x-account'])
    const finish = (result: InteractionResults) => provider.interactionFinished(request, response, result)
    if (account === 'refuses') return finish({ error: 'access_denied' })
    if (prompt.name === 'login') return finish({ login: { accountId: account } })
    const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) })
    grant.addOIDCScope(String(params.scope))
    return finish({ consent: { grantId: await grant.save() } })
  }

  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response)
    interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })

  return {
    issuer,
    clientSecret,
    accounts,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
