/**
 * Session-level advisory locks of the system database, each on a connection of its own: when the process dies the
 * connection dies, and with it the lock. Opening one costs more than a small migration, so some are kept for the next.
 */
import type { Client } from 'pg'
import { ServiceError } from '../../core/error.ts'

export type AdvisoryLocks = {
  /**
   * Waits for the lock of this name at most `patience` milliseconds and answers what frees it. Throws ServiceError
   * `unavailable`, over `busy` where somebody else still has it.
   */
  take(name: string, patience: number): Promise<() => Promise<void>>
  /** Ends the connections that are kept; those in use end when they are freed. */
  close(): Promise<void>
}

export type AdvisoryLockOptions = {
  /** Makes an unconnected client. */
  readonly connect: () => Client
  /** What is thrown where the wait was in vain. */
  readonly busy: () => ServiceError
}

/** The first key of our advisory locks, so that they never meet those of another application; the second is a hash. */
const LOCK_CLASS = 0x5e55
/** What the network may add to a wait that the server itself ends. */
const NETWORK_GRACE = 1_000
const GOODBYE_LIMIT = 2_000
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
    if (isClosed || kept.size >= MOST_KEPT) return hangUp(client)
    const timer = setTimeout(() => {
      forget(client)
      void hangUp(client)
    }, KEPT_FOR)
    kept.set(client, timer.unref())
    return undefined
  }

  async function open(client: Client): Promise<void> {
    // A connection lost while work runs is no news to act on: work cannot be stopped, its fence number is checked.
    client.on('error', () => forget(client))
    client.on('end', () => forget(client))
    await client.connect()
    // Limits that an operator sets for ordinary sessions must not end this one, and the server has to notice within
    // half a minute when our machine is gone without a word.
    await client.query(
      `select set_config(wanted.name, wanted.value, false)
        from (values ('statement_timeout', '0'), ('idle_session_timeout', '0'),
          ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')
        ) as wanted (name, value) join pg_settings using (name)`,
    )
  }

  /** The client has the lock, or is ended. */
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
      await hangUp(client)
      throw cause
    }
  }

  /** A connection that was kept may have died without a word; then a new one is asked. */
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
        throw new ServiceError('unavailable', 'The system database cannot be reached', { cause })
      }
      return async () => {
        try {
          await within(GOODBYE_LIMIT, client.query('select pg_advisory_unlock_all()'))
          await keep(client)
        } catch {
          // One that cannot be asked any more is dead, and the server frees its lock.
          await hangUp(client)
        }
      }
    },

    async close() {
      isClosed = true
      const all = [...kept.keys()]
      all.forEach(forget)
      await Promise.all(all.map(hangUp))
    },
  }
}

const settled = Promise.resolve()

/** The setting counts from when the wait begins, so one statement can do both; the server never skips a function like this. */
async function lock(client: Client, name: string, waitLimit: number): Promise<void> {
  await client.query(
    `with patience as materialized (select set_config('lock_timeout', $3, false))
      select pg_advisory_lock($1::int, hashtext($2)) from patience`,
    [LOCK_CLASS, name, String(waitLimit)],
  )
}

async function hangUp(client: Client): Promise<void> {
  await within(GOODBYE_LIMIT, client.end()).catch(() => {})
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
