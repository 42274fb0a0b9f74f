/**
 * Prepares the local run: generated secrets, the first administrator, the demo, and a printed summary of all addresses.
 * Shared by start.ts (workerd) and start-node.ts.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config, Environment } from '../src/config.ts'
import { readConfig } from '../src/config.ts'
import { isLoopback } from '../src/core/loopback.ts'
import type { DataDirectory } from '../src/platform/node/embedded/data-directory.ts'
import type { Observe } from '../src/ports/observe.ts'
import { signInLinkOf } from './console/sign-in-link.ts'

/** Throws one line per fault if a variable is wrong. */
export function requireConfig(environment: Environment): Config {
  const reading = readConfig(environment)
  if (reading.kind === 'invalid') throw new Error(reading.faults.join('\n'))
  return reading.config
}

/** Returns the caller's variables, completed with generated secrets. */
export function localEnvironment(environment: Environment, directory: DataDirectory): Environment {
  return {
    ...environment,
    SERVICE_SECRET: environment.SERVICE_SECRET || directory.secret('secret'),
    SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: environment.SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS || 'true',
    SERVICE_SETUP_TOKEN: environment.SERVICE_SETUP_TOKEN || directory.secret('setup-token'),
    SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: environment.SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS || 'true',
    ...(!environment.SERVICE_MAIL__URL && hasLocalAddress(environment) && { SERVICE_MAIL__URL: 'log:' }),
  }
}

/** An instance with a public address must not print secrets to its log. */
function hasLocalAddress({ SERVICE_BASE_URL: address }: Environment): boolean {
  return !address || isLoopback(new URL(address).hostname)
}

export type LocalRun = {
  readonly url: string
  readonly environment: Environment
  readonly config: Config
  readonly directory: DataDirectory
  /** The platform named in the first line of the summary. */
  readonly platform: string
  /** To the embedded database. */
  readonly connect: () => Duplex
}

/** Creates the first administrator and the demo if they are missing; then prints the summary. */
export async function prepareLocalRun(run: LocalRun): Promise<void> {
  await requireReady(run.url)
  showStep('Looking for the administrator and the demo, and making what is missing')
  const password = await claim(run)
  const keyFile = join(run.directory.path, 'api-key')
  const key = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : await makeKey(run, password, keyFile)
  if (run.config.SERVICE_DEMO && key !== undefined && !(await isLocked(run.url, key))) {
    const { loadDemo } = await import('./demo/load.ts')
    await loadDemo({ url: run.url, key, dataDirectory: run.directory.path, progress: showProgress })
  }
  const signedIn = key === undefined ? undefined : await makePageKey(run, key)
  const link = isPrivate(run) ? await signInLinkOf(run.connect, run.url, administratorOf(run)) : undefined
  clearStep()
  printBlock(run, { password, keyFile: key === undefined ? undefined : keyFile, pageKey: signedIn, link })
  rmSync(passwordFile(run), { force: true })
}

/** A Worker that failed to start still responds, with the reason. */
async function requireReady(url: string): Promise<void> {
  const response = await fetch(`${url}/api/system/ready`)
  if (response.ok) return
  const { checks } = (await response.json()) as { checks: Readonly<Record<string, string>> }
  const reasons = Object.entries(checks).filter(([, check]) => check !== 'ok')
  throw new Error(checks.startup === 'ok' ? reasons.map((reason) => reason.join(': ')).join('\n') : checks.startup)
}

/** A locked license refuses writes, so the demo waits for another start. */
async function isLocked(url: string, key: string): Promise<boolean> {
  const { license } = (await apiOf(url, key)('GET', '/api/system/info')) as { license: { status: string } }
  return license.status === 'locked'
}

const LOCAL_ADMINISTRATOR = 'admin@example.com'

/**
 * Returns the generated password if it was not shown yet. It is stored before it is used and deleted after it was
 * printed, so that a crash in between locks nobody out.
 */
async function claim(run: LocalRun): Promise<string | undefined> {
  const file = passwordFile(run)
  const info = (await apiOf(run.url)('GET', '/api/system/info')) as { onboarding?: object }
  if (info.onboarding === undefined) return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  const password = randomBytes(12).toString('base64url')
  writeFileSync(file, password, { mode: 0o600 })
  const setupToken = run.environment.SERVICE_SETUP_TOKEN
  await apiOf(run.url)('POST', '/api/system/bootstrap', { email: LOCAL_ADMINISTRATOR, password, setupToken })
  return password
}

function passwordFile({ directory }: LocalRun): string {
  return join(directory.path, 'first-password')
}

async function makeKey(run: LocalRun, generated: string | undefined, file: string): Promise<string | undefined> {
  const { SERVICE_ADMIN__EMAIL: email = LOCAL_ADMINISTRATOR, SERVICE_ADMIN__PASSWORD: password = generated } =
    run.config
  if (password === undefined) return undefined
  const login = { credentials: { email, password }, mode: 'json' }
  const { accessToken } = (await apiOf(run.url)('POST', '/api/auth/login', login)) as { accessToken: string }
  const input = { name: 'local run', description: 'Made by npm start for the line that it prints' }
  const { data } = (await apiOf(run.url, accessToken)('POST', '/api/system/api-keys', input)) as {
    data: { key: string }
  }
  writeFileSync(file, data.key, { mode: 0o600 })
  return data.key
}

const PAGE_KEY = 'reference page'

/** Creates an API key for the link to the reference page, valid for an hour; deletes the key of the previous start. */
async function makePageKey({ url }: LocalRun, key: string): Promise<string | undefined> {
  const api = apiOf(url, key)
  try {
    const filter = encodeURIComponent(JSON.stringify({ name: { _eq: PAGE_KEY } }))
    const { data: earlier } = (await api('GET', `/api/system/api-keys?fields=id&filter=${filter}`)) as {
      data: readonly { id: string }[]
    }
    for (const { id } of earlier) await api('DELETE', `/api/system/api-keys/${id}`)
    const { data } = (await api('POST', '/api/system/api-keys', { name: PAGE_KEY, expiresIn: '1h' })) as {
      data: { key: string }
    }
    return data.key
  } catch {
    // If the local key was deleted or lost its rights, users sign in by hand.
    return undefined
  }
}

export function apiOf(url: string, token?: string) {
  return async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}

function administratorOf({ config }: LocalRun): string {
  return config.SERVICE_ADMIN__EMAIL ?? LOCAL_ADMINISTRATOR
}

/** What others can reach may have a log that others read: it has no link in it that signs in. */
function isPrivate({ environment, config }: LocalRun): boolean {
  return hasLocalAddress(environment) && isLoopback(config.SERVICE_HOST)
}

type Printed = {
  readonly link: string | undefined
  readonly password: string | undefined
  readonly keyFile: string | undefined
  readonly pageKey: string | undefined
}

function printBlock(run: LocalRun, { password, keyFile, pageKey, link }: Printed): void {
  const email = administratorOf(run)
  const key = keyFile === undefined ? 'YOUR_API_KEY' : `$(cat ${quoted(keyFile)})`
  const path = run.config.SERVICE_DEMO
    ? '/api/demo/items/flights?fields=departedAt,delayMinutes,origin.name,destination.city&filter[delayMinutes][_gt]=60&limit=3'
    : '/api/system/workspaces'
  const page = `${run.url}/api/${run.config.SERVICE_DEMO ? 'demo' : 'system'}/docs`
  const lines = [
    '',
    `  Governed data service on ${run.platform}`,
    '',
    `  Console        ${link ?? `${run.url}/`}`,
    ...(link === undefined ? [] : ['                 (signs you in, once, within ten minutes)']),
    '',
    `  Address        ${run.url}`,
    `  Administrator  ${email}${password === undefined ? ' (cannot sign in? docs/operations.md)' : `, password ${password} (shown once)`}`,
    `  Data           ${fromHere(run.directory.path)}`,
    ...(pageKey === undefined ? [`  Reference      ${page} (paste a token)`] : []),
    '  Guides         docs/tutorial.md, docs/api.md',
    '',
    '  Try it:',
    `  curl -g -H "Authorization: Bearer ${key}" '${run.url}${path}'`,
    '',
    ...(pageKey === undefined ? [] : ['  The reference, signed in for an hour:', `  ${page}#token=${pageKey}`, '']),
  ]
  console.log(lines.join('\n'))
}

/** Quotes a path for a shell; it is absolute, so that the line works in any directory. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Returns the shorter form of a path: relative inside the working directory, absolute elsewhere. */
function fromHere(path: string): string {
  const short = relative('.', path) || '.'
  return short.startsWith('..') || isAbsolute(short) ? path : short
}

/** Shows the current step: on a terminal in one line that is erased later, elsewhere one line each. */
export function showStep(text: string): void {
  if (process.stdout.isTTY) showProgress(`${text} …`)
  else console.log(text)
}

export function clearStep(): void {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
}

function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K  ${text}`)
}

/** Once it closes, errors caused by that are not reported. */
let isClosing = false

/** What the process ends with when it has closed. */
let exitCode = 0

let closeAll: (() => Promise<void>) | undefined

/** Milliseconds within which a second signal counts as the same: Ctrl-C arrives from the terminal and from npm. */
const SAME_SIGNAL = 1_000

/** Runs the most recently given `close` once, on the first signal; a second signal (see SAME_SIGNAL) exits at once. */
export function closeOnSignal(close: () => Promise<void>): void {
  const isListening = closeAll !== undefined
  closeAll = close
  if (isListening) return
  let first = 0
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (first > 0 && Date.now() - first > SAME_SIGNAL) process.exit(1)
      first ||= Date.now()
      closeOnce()
    })
  }
}

/**
 * Logs what nobody has caught and runs what `closeOnSignal` was given last, then exits with 1: nobody knows the state that such
 * a fault leaves behind (decision 111). For a process that only serves.
 */
export function closeOnFault(observe: Observe): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      exitCode = 1
      observe({ kind: 'fault', error })
      closeOnce()
    })
  }
}

function closeOnce(): void {
  if (isClosing) return
  isClosing = true
  closeAll?.().then(() => process.exit(exitCode), exitWith('The service failed to shut down cleanly'))
}

/** Milliseconds within which a signal arrives that has ended another process of the group already. */
const SIGNAL_UNDER_WAY = 50

/** Prints why the service cannot start, without a stack trace, unless it was told to end. */
export async function fail(error: unknown): Promise<void> {
  await wait(SIGNAL_UNDER_WAY)
  if (!isClosing) exitWith('The service cannot start')(error)
}

function exitWith(title: string): (error: unknown) => never {
  return (error) => {
    clearStep()
    const reason = error instanceof Error ? error.message : String(error)
    console.error(`\n  ${title}:\n  ${reason.replaceAll('\n', '\n  ')}\n`)
    process.exit(1)
  }
}
