/**
 * Session-level advisory locks in the system database, each on its own connection: when the process dies, the
 * connection closes and the lock is released. Opening a connection costs more than a small migration, so some are
 * reused.
 */
import type { Client } from 'pg'
import type { ServiceError } from '../../core/error.ts'
import { systemUnreached } from '../../core/sql/database-error.ts'

export type AdvisoryLocks = {
  /**
   * Waits at most `patience` milliseconds for the named lock and returns its release function. Throws the error of
   * `busy` if another holder keeps the lock, ServiceError `unavailable` if the database cannot be reached.
   */
  take(name: string, patience: number): Promise<() => Promise<void>>
  /** Closes idle connections; those in use close when they are released. */
  close(): Promise<void>
}

export type AdvisoryLockOptions = {
  /** Creates an unconnected client. */
  readonly connect: () => Client
  /** Creates the error for a wait that timed out. */
  readonly busy: () => ServiceError
}

/** The first key of our advisory locks, which keeps them apart from other applications; the second key is a hash. */
const LOCK_CLASS = 0x5e55
/** Extra milliseconds for the network, on top of a wait that the server ends. */
const NETWORK_GRACE = 1_000
const CLOSE_LIMIT = 2_000
const MOST_KEPT = 10
const KEPT_FOR = 60_000

export function createAdvisoryLocks({ connect, busy }: AdvisoryLockOptions): AdvisoryLocks {
  const kept = new Map<Client, NodeJS.Timeout>()
  let isClosed = false

  function forget(client: Client): void {
    clearTimeout(kept.get(client))
    kept.delete(client)
  }

  function keep(client: Client): Promise<void> | undefined {
    if (isClosed || kept.size >= MOST_KEPT) return closeClient(client)
    const timer = setTimeout(() => {
      forget(client)
      void closeClient(client)
    }, KEPT_FOR)
    kept.set(client, timer.unref())
    return undefined
  }

  async function open(client: Client): Promise<void> {
    // Losing the connection while work runs needs no reaction: the work cannot be stopped, and its fence number is
    // checked.
    client.on('error', () => forget(client))
    client.on('end', () => forget(client))
    await client.connect()
    // Overrides limits meant for ordinary sessions, and makes the server detect a lost machine within half a minute.
    await client.query(
      `select set_config(wanted.name, wanted.value, false)
        from (values ('statement_timeout', '0'), ('idle_session_timeout', '0'),
          ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')
        ) as wanted (name, value) join pg_settings using (name)`,
    )
  }

  /** Returns the client with the lock; closes the client if it fails. */
  async function lockedBy(client: Client, name: string, waitLimit: number): Promise<Client> {
    const isNew = !kept.has(client)
    forget(client)
    try {
      await within(
        waitLimit + NETWORK_GRACE,
        (isNew ? open(client) : settled).then(() => lock(client, name, waitLimit)),
      )
      return client
    } catch (cause) {
      await closeClient(client)
      throw cause
    }
  }

  /** A reused connection may have died silently; then a new one is tried. */
  async function locked(name: string, waitLimit: number): Promise<Client> {
    const [client] = kept.keys()
    if (client === undefined) return lockedBy(connect(), name, waitLimit)
    try {
      return await lockedBy(client, name, waitLimit)
    } catch (cause) {
      if (isLockTimeout(cause)) throw cause
      return lockedBy(connect(), name, waitLimit)
    }
  }

  return {
    async take(name, patience) {
      let client: Client
      try {
        client = await locked(name, Math.max(1, Math.ceil(patience)))
      } catch (cause) {
        if (isLockTimeout(cause)) throw busy()
        throw systemUnreached(cause)
      }
      return async () => {
        try {
          await within(CLOSE_LIMIT, client.query('select pg_advisory_unlock_all()'))
          await keep(client)
        } catch {
          // If the unlock fails, the connection is closed, and the server releases the lock.
          await closeClient(client)
        }
      }
    },

    async close() {
      isClosed = true
      const all = [...kept.keys()]
      all.forEach(forget)
      await Promise.all(all.map(closeClient))
    },
  }
}

const settled = Promise.resolve()

/**
 * `lock_timeout` applies from the start of the wait, so one statement can set it and wait; the server never skips a
 * volatile function.
 */
async function lock(client: Client, name: string, waitLimit: number): Promise<void> {
  await client.query(
    `with patience as materialized (select set_config('lock_timeout', $3, false))
      select pg_advisory_lock($1::int, hashtext($2)) from patience`,
    [LOCK_CLASS, name, String(waitLimit)],
  )
}

async function closeClient(client: Client): Promise<void> {
  await within(CLOSE_LIMIT, client.end()).catch(() => {})
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function isLockTimeout(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === '55P03'
}
