/**
 * The licensing service of scripts/licensing, and the line to it, which a test can spoil: no answer, another answer, a
 * license that was tampered with. Counts what comes along the line.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { newKeyPair, signDocument } from '../../../scripts/licensing/documents.ts'
import type { IssuedLicense, Order } from '../../../scripts/licensing/registry.ts'
import { type LicensingServer, startLicensingServer } from '../../../scripts/licensing/server.ts'

export type Failure =
  | { readonly kind: 'none' }
  | { readonly kind: 'down' }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  /** The service's own answer with another license in it. */
  | { readonly kind: 'license'; readonly replace: (document: string) => Promise<string> | string }

export type LicensingLine = {
  readonly server: LicensingServer
  /** Where instances find the service. */
  readonly url: string
  /** `METHOD /path` of all that came along, ids as `*`. */
  readonly requests: string[]
  spoil(failure: Failure): void
  /** A request of the seller's. */
  sell(path: string, body?: object): Promise<unknown>
  issue(order?: Order): Promise<IssuedLicense>
  /** Variables of an instance under this key. */
  variables(key: string): Readonly<Record<string, string>>
  /** Replaces a license by one that somebody else has signed. */
  readonly forged: Failure
  /** Replaces it by one that the service signed for another product. */
  readonly ofAnotherProduct: Failure
  close(): Promise<void>
}

export async function openLicensingLine(now: () => number): Promise<LicensingLine> {
  const directory = await mkdtemp(join(tmpdir(), 'licensing-'))
  const server = await startLicensingServer({ directory, now })
  const requests: string[] = []
  let failure: Failure = { kind: 'none' }

  const line = createServer((request, response) => {
    const path = (request.url ?? '').replace(/[0-9a-f-]{36}/, '*')
    requests.push(`${request.method} ${path}`)
    pass(request, response).catch(() => response.destroy())
  })
  line.listen(0, '127.0.0.1')
  await once(line, 'listening')
  const url = `http://127.0.0.1:${(line.address() as AddressInfo).port}`

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const spoilt = failure
    if (spoilt.kind === 'down') {
      response.destroy()
      return
    }
    if (spoilt.kind === 'answer') {
      response.writeHead(spoilt.status, { 'Content-Type': 'text/html', Location: '/elsewhere' }).end(spoilt.body)
      return
    }
    const chunks = await request.toArray()
    const answer = await fetch(server.url + request.url, {
      method: request.method ?? 'GET',
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.concat(chunks),
    })
    let text = await answer.text()
    if (spoilt.kind === 'license') {
      const { license, ...rest } = JSON.parse(text) as { license?: string }
      if (license !== undefined) text = JSON.stringify({ ...rest, license: await spoilt.replace(license) })
    }
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text)
  }

  async function sell(path: string, body: object = {}): Promise<unknown> {
    const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' }
    const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`)
    return answer
  }

  return {
    server,
    url,
    requests,
    spoil: (next) => {
      failure = next
    },
    sell,
    issue: async (order = {}) => (await sell('/licenses', order)) as IssuedLicense,
    variables: (key) => ({
      SERVICE_LICENSE__KEY: key,
      SERVICE_LICENSE__URL: url,
      SERVICE_LICENSE__PUBLIC_KEY: server.publicKey,
      SERVICE_BASE_URL: 'https://data.example.com',
    }),
    forged: {
      kind: 'license',
      replace: async (document) => signDocument(decodeJwt(document), await newKeyPair()),
    },
    ofAnotherProduct: {
      kind: 'license',
      replace: (document) => signDocument({ ...decodeJwt(document), product: 'teapot' }, server.registry.keys),
    },
    async close() {
      line.close()
      line.closeAllConnections()
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
