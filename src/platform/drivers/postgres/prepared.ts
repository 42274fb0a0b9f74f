/**
 * Names of statements that are sent again and again, so that the database neither parses nor plans them each time. A text that
 * batches send a second time is prepared on each connection that runs it.
 */
import type pg from 'pg'
import QuickLRU from 'quick-lru'
import { SqlFault } from '../../../core/sql/fault.ts'

export type NameOf = (text: string) => string | undefined

/** Runs batches with names for their texts. */
export function createPrepared() {
  /** Empty for a text that was sent once. */
  const names = new QuickLRU<string, string>({ maxSize: MAX_TEXTS })
  let issued = 0

  function nameOf(text: string): string | undefined {
    const known = names.get(text)
    if (known === undefined) {
      if (text.length > MAX_LENGTH) return undefined
      names.set(text, '')
      return undefined
    }
    if (known !== '') return known
    issued += 1
    const name = `b${issued}`
    names.set(text, name)
    return name
  }

  /** `work` runs once more without names where a prepared one is no longer accepted: it has failed as a whole. */
  async function run<T>(work: (nameOf: NameOf | undefined) => Promise<T>): Promise<T> {
    try {
      return await work(nameOf)
    } catch (error) {
      if (!(error instanceof SqlFault) || !isStale(error)) throw error
      names.clear()
      return work(undefined)
    }
  }

  return { run }
}

export type Names = ReturnType<typeof createNames>

/** Names of single statements. One lasts as long as its prepared statement: `renew` has to replace all connections. */
export function createNames(renew: () => void) {
  const names = new Map<string, string>()
  let issued = 0

  function forget(): void {
    names.clear()
    renew()
  }

  return {
    /** A long text has none. */
    of(text: string): string | undefined {
      if (text.length > MAX_LENGTH) return undefined
      const known = names.get(text)
      if (known !== undefined) return known
      if (names.size >= MAX_TEXTS) forget()
      issued += 1
      const name = `s${issued}`
      names.set(text, name)
      return name
    },

    /** The server no longer accepts this name of the text. */
    refuse(text: string, name: string): void {
      if (names.get(text) === name) forget()
    },
  }
}

const MAX_TEXTS = 1_000
/** Characters of a text that is prepared: it is kept here and, with its plan, by each connection. */
const MAX_LENGTH = 20_000

/** Whether the connection has as many prepared statements as it may keep, some of which nobody sends any more. */
export function isFull(client: pg.PoolClient): boolean {
  const { parsedStatements } = (client as unknown as { connection: { parsedStatements: object } }).connection
  return Object.keys(parsedStatements).length > MAX_PREPARED
}

const MAX_PREPARED = 250

/** Whether the server no longer accepts this prepared statement: it has not run. */
export function isStale({ state, message }: SqlFault): boolean {
  return state === '26000' || state === '42P05' || (state === '0A000' && message.includes('cached plan'))
}
