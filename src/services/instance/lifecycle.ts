/**
 * Start-up: migrates the system database, creates the first administrator from the environment, and reports readiness.
 */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import type { Ports } from '../../ports/ports.ts'
import { installSchema } from '../../store/installation.ts'
import { probeDatabase } from '../../store/instance.ts'
import { countUsers, insertFirstUser } from '../../store/users.ts'
import { recordEvent } from '../caller/audit.ts'

export type Check = 'ok' | string
export type Readiness = {
  readonly status: 'ready' | 'unavailable'
  readonly checks: { readonly accepting_traffic: Check; readonly startup: Check; readonly system_db: Check }
}

/** Names the variable to check in the error of a failed connection. */
function nameVariable(cause: unknown): never {
  if (cause instanceof ServiceError && cause.kind !== 'unavailable') throw cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  throw new Error(`SERVICE_DATABASE_URL: the system database cannot be used: ${reason}`, { cause })
}

/** Migrates the system database and creates the administrator that the environment names. */
export async function installInstance(ports: Ports, config: Config): Promise<void> {
  await installSchema(ports.database).catch(nameVariable)
  const { SERVICE_ADMIN__EMAIL: email, SERVICE_ADMIN__PASSWORD: password } = config
  if (email === undefined || password === undefined) return
  // Skips hashing, which costs more than the rest of a start, if there is a user already: every isolate starts.
  if ((await countUsers(ports.database)) > 0) return
  const passwordHash = await ports.passwords.hash(password)
  const id = ports.ids.next()
  const event = {
    action: 'user.create.v1',
    actor: { kind: 'system' },
    target: { type: 'user', id },
    payload: { isAdministrator: true },
  } as const
  await insertFirstUser(ports.database, { id, email, fullName: null, passwordHash }, (provided) =>
    recordEvent(ports.ids, event, provided),
  )
}

/** `isAccepting` is false after a shutdown signal. Never throws. */
export async function checkReadiness(ports: Ports, isAccepting: boolean): Promise<Readiness> {
  const systemDb = await probeDatabase(ports.database).then(
    () => 'ok',
    () => 'the system database does not respond',
  )
  return readiness({
    accepting_traffic: isAccepting ? 'ok' : 'the process is shutting down',
    startup: 'ok',
    system_db: systemDb,
  })
}

/** Ready if every check passed. */
export function readiness(checks: Readiness['checks']): Readiness {
  const isReady = Object.values(checks).every((check) => check === 'ok')
  return { status: isReady ? 'ready' : 'unavailable', checks }
}
