/**
 * The licensing service over HTTP (docs/contract.md#licensing), for development and tests: activations, validations,
 * and the seller's requests, which need the seller's token.
 */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as z from 'zod'
import { type IssuedLicense, openRegistry, orderSchema, type Registry } from './registry.ts'

export type LicensingServerOptions = {
  /** Folder of the keys, the licenses and the seller's token. */
  readonly directory: string
  /** 0 means any free port. */
  readonly port?: number
  /** Returns milliseconds since the epoch. */
  readonly now?: () => number
}

export type LicensingServer = {
  readonly url: string
  /** The bearer token of the seller's requests. */
  readonly token: string
  /** JWK text for SERVICE_LICENSE__PUBLIC_KEY. */
  readonly publicKey: string
  readonly registry: Registry
  close(): Promise<void>
}

type Answer = { readonly status: number; readonly body?: unknown }
type Route = (request: { readonly body: unknown; readonly parts: readonly string[] }) => Answer | Promise<Answer>
type Context = { readonly registry: Registry; readonly now: () => number }

const MAX_BODY = 64 * 1024

export async function startLicensingServer(options: LicensingServerOptions): Promise<LicensingServer> {
  const { directory, port = 0, now = Date.now } = options
  const registry = await openRegistry(directory, now)
  const token = sellerToken(join(directory, 'token'))
  const [customers, seller] = [customerRoutes({ registry, now }), sellerRoutes({ registry, now })]

  async function answer(request: IncomingMessage): Promise<Answer> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    for (const [routes, isOpen] of [
      [customers, true],
      [seller, isSeller(request, token)],
    ] as const) {
      for (const [method, pattern, route] of routes) {
        const [, ...parts] = pattern.exec(path) ?? []
        if (!pattern.test(path) || method !== request.method) continue
        if (!isOpen) return refusal(401, 'This needs the token of the seller')
        return route({ body: await readBody(request), parts: parts.map(decodeURIComponent) })
      }
    }
    return refusal(404, 'Not found')
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (given) => send(response, given),
      (error: unknown) => send(response, faultAnswer(error)),
    )
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    publicKey: JSON.stringify(registry.keys.publicJwk),
    registry,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type Routes = readonly (readonly [string, RegExp, Route])[]

const activationBody = z.object({ key: z.string(), environmentId: z.string().min(1), baseUrl: z.string().nullish() })
const validationBody = z.object({ key: z.string(), environmentId: z.string() })

function customerRoutes({ registry, now }: Context): Routes {
  const hasEnded = ({ terms: { exp, grace } }: IssuedLicense) => now() >= (exp + grace) * 1_000

  return [
    [
      'POST',
      /^\/activations$/,
      async ({ body }) => {
        const { key, environmentId, baseUrl = null } = activationBody.parse(body)
        const license = registry.find(key)
        if (license === undefined) return refusal(403, 'This license key is unknown')
        if (license.state !== 'valid') return refusal(403, `The license is ${license.state}`)
        const own = license.activations.find((activation) => activation.environmentId === environmentId)
        if (own !== undefined) return activated(license, own.id)
        if (now() >= license.terms.exp * 1_000) return refusal(403, 'The license has expired')
        const { instances } = license.terms
        if (license.activations.length >= instances) {
          return refusal(409, `The license is activated on its maximum number of instances, ${instances}`)
        }
        const id = randomUUID()
        const activation = { id, environmentId, baseUrl, at: now() }
        registry.change(key, (before) => ({ ...before, activations: [...before.activations, activation] }))
        return activated(license, id)
      },
    ],
    [
      'POST',
      /^\/activations\/([^/]+)\/validate$/,
      async ({ body, parts: [id = ''] }) => {
        const { key, environmentId } = validationBody.parse(body)
        const license = registry.find(key)
        const activation = license?.activations.find((candidate) => candidate.id === id)
        if (license === undefined || activation?.environmentId !== environmentId) {
          return refusal(404, 'There is no such activation')
        }
        if (license.state !== 'valid') return { status: 200, body: { status: license.state } }
        // Within its grace period a license is still valid; the instance computes the rest from the document.
        if (hasEnded(license)) return { status: 200, body: { status: 'expired' } }
        return { status: 200, body: { status: 'valid', license: await registry.document(license) } }
      },
    ],
    [
      'DELETE',
      /^\/activations\/([^/]+)$/,
      ({ parts: [id = ''] }) => {
        const license = registry.findActivated(id)
        if (license === undefined) return refusal(404, 'There is no such activation')
        registry.change(license.key, (before) => ({
          ...before,
          activations: before.activations.filter((activation) => activation.id !== id),
        }))
        return { status: 204 }
      },
    ],
    ['GET', /^\/public-key$/, () => ({ status: 200, body: registry.keys.publicJwk })],
  ]

  async function activated(license: IssuedLicense, activationId: string): Promise<Answer> {
    return { status: 201, body: { activationId, license: await registry.document(license) } }
  }
}

const renewalBody = z.strictObject({
  term: z
    .number()
    .int()
    .min(0)
    .default(365 * 86_400),
})

function sellerRoutes({ registry, now }: Context): Routes {
  const changed = (key: string, change: (license: IssuedLicense) => IssuedLicense): Answer => {
    const license = registry.change(key, change)
    return license === undefined ? refusal(404, 'There is no such license') : { status: 200, body: license }
  }
  const into = (word: string, state: IssuedLicense['state']): Routes[number] => [
    'POST',
    new RegExp(`^/licenses/([^/]+)/${word}$`),
    ({ parts: [key = ''] }) => changed(key, (license) => ({ ...license, state })),
  ]

  return [
    ['GET', /^\/licenses$/, () => ({ status: 200, body: registry.list() })],
    ['POST', /^\/licenses$/, ({ body }) => ({ status: 201, body: registry.issue(orderSchema.parse(body)) })],
    [
      'POST',
      /^\/tokens$/,
      async ({ body }) => ({ status: 201, body: { token: await registry.issueToken(orderSchema.parse(body)) } }),
    ],
    into('suspend', 'suspended'),
    into('resume', 'valid'),
    into('cancel', 'canceled'),
    [
      'POST',
      /^\/licenses\/([^/]+)\/renew$/,
      ({ body, parts: [key = ''] }) => {
        const exp = Math.floor(now() / 1_000) + renewalBody.parse(body).term
        return changed(key, (license) => ({ ...license, state: 'valid', terms: { ...license.terms, exp } }))
      },
    ],
  ]
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message } }
}

function faultAnswer(error: unknown): Answer {
  if (error instanceof z.ZodError || error instanceof SyntaxError) return refusal(422, error.message)
  console.error(error)
  return refusal(500, 'Internal error')
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > MAX_BODY) throw new SyntaxError('the body is too large')
  }
  return text === '' ? {} : (JSON.parse(text) as unknown)
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

function sellerToken(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const token = randomBytes(24).toString('base64url')
  writeFileSync(file, token, { mode: 0o600 })
  return token
}

function isSeller(request: IncomingMessage, token: string): boolean {
  const [sent, expected] = [Buffer.from(request.headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)]
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}
