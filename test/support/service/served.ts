/**
 * A server that the acceptance suite talks to, as its global setup hands it to the tests. The first administrator can be
 * made only once per server, so that happens here and its answers are kept for test/acceptance/system.test.ts.
 */
import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Received } from '../servers/mail-servers.ts'
import { forge, read, signerOf } from './forge.ts'
import { generousLicense } from './license.ts'

declare module 'vitest' {
  interface ProvidedContext {
    served: Served
  }
}

export type Served = {
  readonly url: string
  /** An empty page of another origin, which may read what the service answers. */
  readonly page: string
  /** What it was started with, for another one beside it. */
  readonly variables: Readonly<Record<string, string>>
  readonly platform: 'node' | 'workerd'
  /** `token` is an access token. */
  readonly administrator: { readonly email: string; readonly password: string; readonly token: string }
  readonly setupToken: string
  /** The private JWK that the server signs tokens with. */
  readonly signingKey: JsonWebKey & { readonly kid: string }
  /** Holds what the server logs, one JSON text per line. */
  readonly logFile: string
  /** Holds the mails that arrived, one JSON text per line. */
  readonly mailFile: string
  /** Answers from before there was an administrator. */
  readonly first: { readonly info: Answer; readonly bootstrapWithoutToken: Answer; readonly bootstrap: Answer }
}

export type Answer = { readonly status: number; readonly body: unknown }

/** What a server of the suite is started with, and where it keeps its things. */
export type ServedEnvironment = {
  readonly directory: string
  readonly page: string
  readonly variables: Readonly<Record<string, string>>
  readonly log: (line: string) => void
  /** Keeps a mail that arrived. */
  readonly mail: (mail: Received) => void
  readonly close: () => Promise<void>
}

export async function openServedEnvironment(): Promise<ServedEnvironment> {
  const directory = await mkdtemp(join(tmpdir(), 'served-'))
  const pages = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html>'))
  await once(pages.listen(0, '127.0.0.1'), 'listening')
  const page = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
  return {
    directory,
    page,
    variables: {
      ...(await generousLicense()),
      SERVICE_SECRET: randomBytes(32).toString('base64url'),
      SERVICE_SETUP_TOKEN: randomBytes(16).toString('base64url'),
      // Known to the tests, so that they can sign what the service never would.
      SERVICE_AUTH__SIGNING_KEY: JSON.stringify({ ...newSigningKey(), kid: 'of-the-suite' }),
      // All of the suite comes from one address.
      SERVICE_AUTH__LOGINS_PER_MINUTE: '100000',
      SERVICE_AUTH__LOGINS_AT_ONCE: '64',
      // What files of the suite have told others of is no news, however long a run takes.
      SERVICE_SCHEMA__DRIFT_INTERVAL: '1d',
      // Small enough for tests to go beyond it.
      SERVICE_QUERY__MAX_ROWS: '100000',
      // Providers of the suite run on loopback.
      SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: 'true',
      SERVICE_AUTH__REDIRECT_ORIGINS: 'https://app.example.com',
      SERVICE_EXTENSIONS__PATH: join(import.meta.dirname, '../extensions'),
      SERVICE_CORS__ENABLED: 'true',
      SERVICE_CORS__ORIGIN: `https://app.example.com,${page}`,
      // The databases of the tests are on this machine.
      SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true',
    },
    log: (line) => appendFileSync(join(directory, 'log'), `${line}\n`),
    mail: (mail) => appendFileSync(join(directory, 'mails'), `${JSON.stringify(mail)}\n`),
    async close() {
      pages.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export function newSigningKey(): JsonWebKey {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
}

export async function prepareServed(
  { url, platform, variables }: Pick<Served, 'url' | 'platform' | 'variables'>,
  stage: ServedEnvironment,
): Promise<Served> {
  const credentials = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') }
  const setupToken = stage.variables.SERVICE_SETUP_TOKEN ?? ''
  const info = await ask(`${url}/api/system/info`)
  const bootstrapWithoutToken = await ask(`${url}/api/system/bootstrap`, credentials)
  const bootstrap = await ask(`${url}/api/system/bootstrap`, { ...credentials, setupToken })
  const login = await ask(`${url}/api/auth/login`, { credentials, mode: 'json' })
  const { accessToken } = login.body as { accessToken: string }
  const signingKey = JSON.parse(stage.variables.SERVICE_AUTH__SIGNING_KEY ?? '') as Served['signingKey']
  const administrator = { ...credentials, token: lastingADay(accessToken, signingKey) }
  const first = { info, bootstrapWithoutToken, bootstrap }
  const [logFile, mailFile] = [join(stage.directory, 'log'), join(stage.directory, 'mails')]
  return { url, page: stage.page, platform, variables, administrator, setupToken, signingKey, logFile, mailFile, first }
}

/** The same token with another end: on a slow machine the suite takes longer than an access token lives. */
function lastingADay(token: string, signingKey: JsonWebKey): string {
  const { header, claims } = read(token)
  return forge({ header, claims: { ...claims, exp: Number(claims.iat) + 86_400 }, signer: signerOf(signingKey) })
}

async function ask(url: string, body?: object): Promise<Answer> {
  const request =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(url, request)
  return { status: response.status, body: await response.json() }
}
