/**
 * `npm run licensing`: a small licensing service for development and tests, see docs/licensing.md. Without arguments it
 * serves; with a command it sends a request to the running service.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { entitlementNames, entitlements } from '../src/core/license/license.ts'
import { startLicensingServer } from './licensing/server.ts'
import { endWithNpm } from './npm-run.ts'

const directory = process.env.LICENSING_DIR ?? '.licensing'
const port = Number(process.env.LICENSING_PORT ?? 8788)
const url = `http://127.0.0.1:${port}`

const commands = ['issue', 'token', 'list', 'suspend', 'resume', 'cancel', 'renew'] as const

endWithNpm()
await main().catch((error) => {
  console.error(`\n  ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      customer: { type: 'string' },
      plan: { type: 'string' },
      days: { type: 'string' },
      grace: { type: 'string' },
      revalidate: { type: 'string' },
      instances: { type: 'string' },
      limit: { type: 'string', multiple: true },
      soft: { type: 'string', multiple: true },
    },
  })
  const [command, key = ''] = positionals
  if (command === undefined) return serve()
  switch (command) {
    case 'issue':
      return print(await ask('POST', '/licenses', orderOf(values)))
    case 'token':
      return print(await ask('POST', '/tokens', orderOf(values)))
    case 'list':
      return print(await ask('GET', '/licenses'))
    case 'suspend':
    case 'resume':
    case 'cancel':
      return print(await ask('POST', `/licenses/${encodeURIComponent(key)}/${command}`))
    case 'renew':
      return print(await ask('POST', `/licenses/${encodeURIComponent(key)}/renew`, { term: days(values.days) }))
    default:
      throw new Error(`There is no command ${command}; there are ${commands.join(', ')}`)
  }
}

async function serve(): Promise<void> {
  const server = await startLicensingServer({ directory, port })
  const lines = [
    '',
    '  Licensing service (development)',
    '',
    `  Address     ${server.url}`,
    `  Data        ${directory}`,
    '',
    '  An instance under a key is started with:',
    `  SERVICE_LICENSE__URL=${server.url}`,
    `  SERVICE_LICENSE__PUBLIC_KEY='${server.publicKey}'`,
    '  SERVICE_LICENSE__KEY=<one from: npm run licensing -- issue>',
    '',
  ]
  console.log(lines.join('\n'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void server.close().then(() => process.exit(0))
    })
  }
}

type Values = {
  readonly customer?: string
  readonly plan?: string
  readonly days?: string
  readonly grace?: string
  readonly revalidate?: string
  readonly instances?: string
  readonly limit?: string[]
  readonly soft?: string[]
}

function orderOf({ customer, plan, days: term, grace, revalidate, instances, limit = [], soft = [] }: Values) {
  return {
    customer,
    plan,
    term: days(term),
    grace: days(grace),
    revalidate: revalidate === undefined ? undefined : Number(revalidate),
    instances: instances === undefined ? undefined : Number(instances),
    entitlements: Object.fromEntries([
      ...limit.map((text) => limitOf(text, 'hard')),
      ...soft.map((text) => limitOf(text, 'soft')),
    ]),
  }
}

/** Parses `seats=20`, `seats=unlimited` or `sso_enabled=true`. */
function limitOf(text: string, kind: 'hard' | 'soft') {
  const [name = '', value = ''] = text.split('=')
  const known = entitlementNames.find((candidate) => candidate === name)
  if (known === undefined) throw new Error(`There is no entitlement ${name}; there are ${entitlementNames.join(', ')}`)
  if (entitlements[known].measure === 'flag') return [name, { limit: value === 'true', kind }]
  return [name, { limit: value === 'unlimited' ? null : Number(value), kind }]
}

function days(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text) * 86_400
}

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const token = readFileSync(join(directory, 'token'), 'utf8').trim()
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(url + path, request).catch(() => {
    throw new Error(`No response from ${url}; start the service with: npm run licensing`)
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error((answer as { message: string }).message)
  return answer
}

function print(answer: unknown): void {
  console.log(JSON.stringify(answer, null, 2))
}
