/** Signing in by a browser, on this machine or another (RFC 8628): the code that is shown here is approved there. */
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServiceError, User } from 'governed-data-client'
import { explain } from './advice.ts'
import { type Connection, connectionOf, type Project } from './connection.ts'
import { Failure } from './failure.ts'
import type { Environment } from './settings.ts'
import type { Terminal } from './terminal.ts'
import { welcomed } from './workspace.ts'

type Codes = {
  readonly deviceCode: string
  readonly userCode: string
  readonly verificationUri: string
  /** In seconds, as `interval`. */
  readonly expires: number
  readonly interval: number
}

type Tokens = { readonly expires: number; readonly accessToken: string; readonly refreshToken: string }

/** Says where to go with which code, waits, and keeps the session. Throws where it is declined or nobody came in time. */
export async function signInByBrowser(terminal: Terminal, project: Project, environment: Environment): Promise<User> {
  const service = connectionOf(environment, { auth: undefined, flags: '', credential: 'none' })
  const codes = await begin(service)
  terminal.say(`Open ${codes.verificationUri} in a browser, sign in there, and type the code ${codes.userCode}`)
  const tokens = await waitFor(service, codes, terminal)
  let user: User | undefined
  await project.credentials.signIn(environment, async (auth) => {
    await auth.session?.keep(tokens)
    user = await welcomed(connectionOf(environment, { auth, flags: '', credential: 'session' }))
  })
  if (user === undefined) throw new Failure('the service says nobody is signed in')
  return user
}

async function begin({ db, target }: Connection): Promise<Codes> {
  const name = `governed on ${hostname()}`.slice(0, 200)
  const started = await db.$request<Codes>('POST', '/api/auth/device', { body: { name } })
  if (started.ok) return started.data
  if (started.status !== 404 && started.status !== 405) throw explain(started.error, target)
  throw new Failure('this service knows no sign-in by a browser', {
    cause: started.error,
    help: 'sign in by --email, or make an API key and give it by --key-stdin',
  })
}

async function waitFor({ db, target }: Connection, codes: Codes, terminal: Terminal): Promise<Tokens> {
  const { deviceCode, expires, interval } = codes
  const end = Date.now() + expires * 1_000
  let shown = ''
  for (let wait = interval; Date.now() < end; ) {
    const text = `waiting for somebody to approve it: ${minutes(end - Date.now())} left`
    if (text !== shown) terminal.progress(text)
    shown = text
    await pause(wait * 1_000)
    const answer = await db.$request<Tokens | { interval: number }>('POST', '/api/auth/device/token', {
      body: { deviceCode },
    })
    if (answer.ok && 'accessToken' in answer.data) return answer.data
    // Who asked too soon asks more slowly; a service that does not answer for a moment is asked again.
    if (!answer.ok && answer.status === 429) wait += 5
    if (!answer.ok && !isPassing(answer.error))
      throw refusals[answer.status]?.(answer.error) ?? explain(answer.error, target)
  }
  throw tooLate()
}

const isPassing = ({ status }: ServiceError) => status === 0 || status === 429 || status >= 500

const refusals: Readonly<Record<number, (cause: ServiceError) => Failure>> = {
  401: (cause) => tooLate(cause),
  403: (cause) => new Failure('the sign-in was declined', { cause }),
}

function tooLate(cause?: ServiceError): Failure {
  return new Failure('the code is no longer good', { cause, help: 'governed login --browser makes a new one' })
}

function minutes(milliseconds: number): string {
  const left = Math.ceil(milliseconds / 60_000)
  return left === 1 ? '1 minute' : `${left} minutes`
}
