/** What is typed of how a source is reached, and the configuration that this makes. */
import type { ServiceError } from 'governed-data-client'

/** Is kept by the browser until the source is attached: nothing in it is secret. */
export type Draft = {
  /** `provider` or `provider/preset`. */
  readonly choice: string
  readonly given: Given
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
  readonly encryption: 'on' | 'off'
  readonly name: string
}

export const givens = ['string', 'parts', 'json'] as const
export type Given = (typeof givens)[number]

/** Is forgotten with the page. */
export type Typed = {
  readonly connectionString: string
  readonly password: string
  readonly json: string
  /** The named secret that stands for what is secret; empty where it is typed. */
  readonly secret: string
}

export const emptyDraft: Draft = {
  choice: 'postgres',
  given: 'string',
  host: '',
  port: '',
  database: '',
  user: '',
  encryption: 'on',
  name: 'main',
}

/** One that no source has. */
export function freeName(taken: readonly string[]): string {
  let number = 1
  const name = () => (number === 1 ? emptyDraft.name : `${emptyDraft.name}${number}`)
  while (taken.includes(name())) number += 1
  return name()
}

export const nothingTyped: Typed = { connectionString: '', password: '', json: '{\n}', secret: '' }

export function providerIn({ choice }: Draft): string {
  return choice.split('/')[0] ?? ''
}

/** Undefined where the JSON is no object. */
export function configOf(draft: Draft, typed: Typed): object | undefined {
  const { given, host, port, database, user, encryption } = draft
  const secretly = (text: string) => (typed.secret === '' ? text : { $secret: typed.secret })
  if (given === 'string') return { connectionString: secretly(typed.connectionString.trim()) }
  if (given === 'json') return objectIn(typed.json)
  return {
    host: host.trim(),
    ...(port.trim() && { port: Number(port) }),
    ...(database.trim() && { database: database.trim() }),
    user: user.trim(),
    password: secretly(typed.password),
    ...(encryption === 'off' && { tls: false }),
  }
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Where a form shows what is wrong. */
export type Place =
  | 'connectionString'
  | 'host'
  | 'port'
  | 'database'
  | 'user'
  | 'password'
  | 'encryption'
  | 'json'
  | 'name'

const fieldsOf: Readonly<Record<Given, readonly Place[]>> = {
  string: ['connectionString'],
  parts: ['host', 'port', 'database', 'user', 'password', 'encryption'],
  json: ['json'],
}

/** What databases say of a connection, and which field it is about where each has its own. */
const meanings: readonly (readonly [RegExp, Place])[] = [
  [/host is a loopback/, 'host'],
  [/database does not exist/, 'database'],
  [/refuses the user or the password/, 'password'],
  [/lacks a right/, 'user'],
  [/certificate/, 'encryption'],
]

const members: Readonly<Record<string, Place>> = { tls: 'encryption', hyperdrive: 'host', auth: 'password' }

/** The field that an error is about, and its reason; undefined where it is about none that is shown. */
export function wrongIn({ messages, status }: ServiceError, given: Given): readonly [Place, string] | undefined {
  const at = messages.findIndex((text) => text === 'apiName' || /^config(\.|\[|$)/.test(text))
  if (at === -1) {
    if (status === 409 && messages.includes('A data source of this name already exists'))
      return ['name', messages.join(': ')]
    const last = messages.at(-1) ?? ''
    const matchedPlace = meanings.find(([sign]) => sign.test(last))?.[1]
    const place = given === 'parts' ? matchedPlace : fieldsOf[given][0]
    // What databases say begins in lower case.
    const sentence = last.charAt(0).toUpperCase() + last.slice(1)
    return matchedPlace === undefined || place === undefined ? undefined : [place, sentence]
  }
  const reason = messages.slice(at + 1).join(': ')
  if (messages[at] === 'apiName') return ['name', reason]
  if (given === 'json') return ['json', messages.slice(at).join(': ')]
  const [, member = ''] = messages[at]?.split(/[.[]/) ?? []
  const place = fieldsOf[given].find((one) => one === (members[member] ?? member))
  return place === undefined ? undefined : [place, reason]
}

/** Those that a connection string of this beginning can be meant for. */
const bySchemes: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^postgres(ql)?:/, ['postgres', 'neon']],
  [/^mysql:/, ['mysql', 'mariadb', 'planetscale']],
  [/^mariadb:/, ['mariadb', 'mysql']],
]

/** That of a connection string: the one that was chosen, where it fits. */
export function choiceFor(connectionString: string, choice: string): string {
  const [chosen = ''] = choice.split('/')
  const fitting = bySchemes.find(([scheme]) => scheme.test(connectionString.trim()))?.[1]
  return fitting === undefined || fitting.includes(chosen) ? choice : (fitting[0] ?? choice)
}
