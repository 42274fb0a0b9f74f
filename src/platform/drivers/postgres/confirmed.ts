/**
 * A batch whose answers, or the term of its plan, are looked at before it is committed. It begins in the same message as its statements: where one fails,
 * `begin` included, the server skips those behind it, so that nothing runs outside of the transaction.
 */
import type pg from 'pg'
import { OUTDATED, requireTerm } from '../../../core/sql/begin/plan-term.ts'
import { SqlFault, TOO_LARGE } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlRow } from '../../../ports/database.ts'
import { withinSocketBound } from '../answer-bound.ts'
import { isLost } from '../lost-connection.ts'
import { holdWrites, ignore, lost, type PostgresOptions, postgresFault, socketOf } from './client.ts'
import { isFull, type NameOf } from './prepared.ts'
import { type Connection, LeanQuery } from './text-read.ts'
import { atPosition, leavingOf, overdue, rollBack, SLICE, startLimit } from './transaction.ts'

type ConfirmedBatch = {
  readonly statements: readonly Statement[]
  readonly context: QueryContext
  readonly nameOf: NameOf | undefined
  /** Called when the server is known to have begun it. */
  readonly onBegin?: () => void
}

/** Runs all statements, and commits them if `confirm` of the context throws nothing, and its term is not over. */
export async function runConfirmed(
  lend: () => Promise<pg.PoolClient>,
  options: PostgresOptions,
  { statements, context, nameOf, onBegin }: ConfirmedBatch,
): Promise<readonly (readonly SqlRow[])[]> {
  const { timeLimit = 0 } = options
  const named = timeLimit > 0 ? [begin, limitedTo(timeLimit)] : [begin]
  // Without names also where the server no longer knows one of them.
  const opening = nameOf === undefined ? named.map((one) => ({ ...one, name: '' })) : named
  const client = await lend()
  let limit: ReturnType<typeof startLimit> | undefined
  let isIdle = true
  let isCommitting = false
  const answers: (readonly SqlRow[])[] = []
  const confirm = () => context.confirm?.(answers.slice(opening.length))
  try {
    limit = startLimit({ timeLimit, isLeft: leavingOf(options, context) }, options, client)
    await withinSocketBound(sendAll(client, { opening, statements, nameOf }, answers), socketOf(client), ignore).catch(
      (error: unknown) => {
        const isTooLarge = error instanceof SqlFault && error.state === TOO_LARGE
        throw isTooLarge ? atPosition(error, Math.max(0, answers.length - opening.length)) : error
      },
    )
    limit?.refuseLate()
    await requireTerm(context.term)
    confirm()
    isCommitting = true
    await client.query('commit')
    return answers.slice(opening.length)
  } catch (error) {
    if (answers.length > 0) onBegin?.()
    // The client learns late whether it is in a transaction.
    isIdle = await rollBack(client, options)
    const fault = postgresFault(error, lost)
    const isCutOff = !isCommitting && limit?.hasEnded() === true && isLost(fault)
    if (fault.state === OUTDATED) throw fault
    throw earlierThan(confirm) ?? (isCutOff ? overdue(error) : fault)
  } finally {
    limit?.stop()
    // A late cancel request could also end the next statement on this connection.
    client.release(!isIdle || limit?.hasEnded() === true || isFull(client))
  }
}

/** The fault of the answers before the statement that has failed. */
function earlierThan(confirm: () => void): unknown {
  try {
    confirm()
    return undefined
  } catch (error) {
    return error
  }
}

const begin: Named = { text: 'begin', params: [], name: 'begin' }

function limitedTo(timeLimit: number): Named {
  return { text: `set local statement_timeout = ${timeLimit}`, params: [], name: `limit${timeLimit}` }
}

type Named = Statement & { readonly name: string }

type Sending = Pick<ConfirmedBatch, 'statements' | 'nameOf'> & { readonly opening: readonly Named[] }

/** Sends slice after slice, so that other work can run in between; `answers` fills with those of the opening first. */
async function sendAll(
  client: pg.PoolClient,
  { opening, statements, nameOf }: Sending,
  answers: (readonly SqlRow[])[],
): Promise<void> {
  for (let start = 0; start < statements.length; start += SLICE) {
    const slice = statements.slice(start, start + SLICE)
    const named = slice.map((statement): Named => ({ ...statement, name: nameOf?.(statement.text) ?? '' }))
    const write = holdWrites(client)
    const sent = new Promise<void>((resolve, reject) => {
      const confirmed = { statements: start === 0 ? [...opening, ...named] : named, answers, resolve, reject }
      client.query(new ConfirmedStatements(confirmed) as unknown as pg.Submittable)
    })
    write()
    await sent.catch((error: unknown) => {
      const position = answers.length - opening.length
      throw position < 0 ? error : atPosition(error, position)
    })
  }
}

type Hearing = {
  readonly statements: readonly Named[]
  readonly answers: (readonly SqlRow[])[]
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Statements that `pg` takes for one query. */
class ConfirmedStatements extends LeanQuery {
  readonly #hearing: Hearing
  #rows: SqlRow[] = []
  #done = 0

  constructor(hearing: Hearing) {
    super()
    this.#hearing = hearing
  }

  /** Of the statement that runs: what `pg` notes as prepared on the connection. */
  get name(): string {
    return this.#hearing.statements[this.#done]?.name ?? ''
  }

  get text(): string {
    return this.#hearing.statements[this.#done]?.text ?? ''
  }

  submit(connection: Connection): void {
    const parsed = new Set<string>()
    for (const { name, text, params } of this.#hearing.statements) {
      if (name === '' || (connection.parsedStatements[name] === undefined && !parsed.has(name))) {
        connection.parse({ name, text })
        parsed.add(name)
      }
      connection.bind({ statement: name, values: params })
      connection.execute()
    }
    connection.sync()
  }

  handleDataRow({ fields }: { readonly fields: SqlRow }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete(): void {
    this.#hearing.answers.push(this.#rows)
    this.#rows = []
    this.#done += 1
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete()
  }

  handleReadyForQuery(): void {
    this.#hearing.resolve()
  }

  handleError(error: Error): void {
    this.#hearing.reject(error)
  }
}
