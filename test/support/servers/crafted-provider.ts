/**
 * An authorization server on loopback that answers what a test wants it to: plain OAuth 2.0, and OpenID Connect with
 * identity tokens of any sort. It agrees to everything at once, but holds clients to code, secret, callback and PKCE.
 */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

export type CraftedProvider = {
  readonly url: string
  readonly clientSecret: string
  /** What is answered from now on; a test sets what it is about. */
  readonly answers: {
    /** Claims of the identity token, over what would be right. */
    claims: JWTPayload
    /** Makes the identity token out of right claims. */
    sign: (claims: JWTPayload) => Promise<string>
    /** Over what would be right in the discovery document. */
    discovery: Readonly<Record<string, unknown>>
    userinfo: unknown
    emails: unknown
    /** Instead of the answer of the token endpoint. */
    token: { readonly status: number; readonly body: unknown } | undefined
  }
  /** A signature by the key that the provider publishes. */
  readonly sign: (claims: JWTPayload, header?: object) => Promise<string>
  /** Paths that were asked for, in order. */
  readonly requests: string[]
  /** Another issuer of the same server, whose discovery document nobody has seen yet. */
  newIssuer(): string
  /** Every answer from now on is a redirect to there. */
  redirectTo(address: string | undefined): void
  reset(): void
  close(): Promise<void>
}

type Issued = { readonly challenge: string; readonly nonce: string | null; readonly callback: string; clientId: string }

export async function startCraftedProvider(): Promise<CraftedProvider> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clientSecret = randomBytes(24).toString('hex')
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' }
  const codes = new Map<string, Issued>()
  const requests: string[] = []
  let issuers = 0
  let elsewhere: string | undefined

  const sign: CraftedProvider['sign'] = (claims, header = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(privateKey)
  const right = (): CraftedProvider['answers'] => ({
    claims: {},
    sign,
    discovery: {},
    userinfo: {},
    emails: [],
    token: undefined,
  })
  const answers = right()

  async function answer(request: IncomingMessage, address: URL): Promise<Answer> {
    const [, prefix = '', path] = /^(\/issuers\/\d+)?(\/.*)$/.exec(address.pathname) ?? []
    const issuer = url + prefix
    switch (path) {
      case '/.well-known/openid-configuration':
        return json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
          ...answers.discovery,
        })
      case '/jwks':
        return json({ keys: [jwk] })
      case '/authorize': {
        const given = address.searchParams
        const code = randomBytes(16).toString('hex')
        const callback = given.get('redirect_uri') ?? ''
        codes.set(code, {
          challenge: given.get('code_challenge') ?? '',
          nonce: given.get('nonce'),
          callback,
          clientId: given.get('client_id') ?? '',
        })
        const back = new URL(callback)
        back.searchParams.set('code', code)
        back.searchParams.set('state', given.get('state') ?? '')
        return { status: 302, headers: { Location: back.href }, body: '' }
      }
      case '/token':
        return answers.token === undefined ? token(request, issuer) : json(answers.token.body, answers.token.status)
      case '/user':
        return isBearer(request) ? json(answers.userinfo) : json({}, 401)
      case '/emails':
        return isBearer(request) ? json(answers.emails) : json({}, 401)
      default:
        return json({}, 404)
    }
  }

  async function token(request: IncomingMessage, issuer: string): Promise<Answer> {
    const given = new URLSearchParams(await text(request))
    const basic = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
    const secret = given.get('client_secret') ?? basic.split(':')[1]
    const issued = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (secret !== clientSecret) return json({ error: 'invalid_client' }, 401)
    if (issued?.challenge !== challenge || issued.callback !== given.get('redirect_uri')) {
      return json({ error: 'invalid_grant' }, 400)
    }
    const now = Math.floor(Date.now() / 1_000)
    const times = { iat: now, exp: now + 300 }
    const claims = { iss: issuer, aud: issued.clientId, nonce: issued.nonce ?? undefined, ...times, ...answers.claims }
    return json({
      access_token: ACCESS_TOKEN,
      token_type: 'bearer',
      ...(issued.nonce !== null && { id_token: await answers.sign(claims) }),
    })
  }

  server.on('request', (request, response) => {
    const address = new URL(request.url ?? '', url)
    requests.push(address.pathname)
    const moved: Answer = { status: 307, headers: { Location: elsewhere ?? '' }, body: '' }
    void (elsewhere === undefined ? answer(request, address) : Promise.resolve(moved)).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
    )
  })

  return {
    url,
    clientSecret,
    answers,
    sign,
    requests,
    newIssuer() {
      issuers += 1
      return `${url}/issuers/${issuers}`
    },
    redirectTo(address) {
      elsewhere = address
    },
    reset() {
      elsewhere = undefined
      Object.assign(answers, right())
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const ACCESS_TOKEN = 'canary-of-an-access-token'

type Answer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

function json(value: unknown, status = 200): Answer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) }
}

function isBearer(request: IncomingMessage): boolean {
  return request.headers.authorization === `Bearer ${ACCESS_TOKEN}`
}
