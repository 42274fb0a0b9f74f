/**
 * One named read on a pipelined `pg` client, with only the messages it needs: no row description, since every value
 * stays text, and no result object, events or copied configuration.
 */
import pg from 'pg'
import type { Statement } from '../../../core/sql/statement.ts'
import type { SqlRow } from '../../../ports/database.ts'

/** Returns the rows in the server's text form. Rejects with the errors of `pg`. */
export function readText(client: pg.ClientBase, name: string, statement: Statement): Promise<readonly SqlRow[]> {
  return new Promise((resolve, reject) => {
    client.query(new TextRead(name, statement, { resolve, reject }) as unknown as pg.Submittable)
  })
}

type Settle = {
  readonly resolve: (rows: readonly SqlRow[]) => void
  readonly reject: (error: Error) => void
}

/**
 * The callbacks of `pg` for a running query that is sent without a description, or a limit of rows: what throws here ends
 * the connection.
 */
export class LeanQuery {
  handleRowDescription(): never {
    throw new Error('the server has described rows that nobody asked about')
  }

  handlePortalSuspended(): never {
    throw new Error('the server has stopped where nobody asked it to')
  }

  handleCopyInResponse(): never {
    throw new Error('the server has begun to copy')
  }

  handleCopyData(): never {
    throw new Error('the server has begun to copy')
  }
}

class TextRead extends LeanQuery {
  readonly name: string
  readonly text: string
  readonly #params: Statement['params']
  readonly #settle: Settle
  readonly #rows: SqlRow[] = []

  constructor(name: string, { text, params }: Statement, settle: Settle) {
    super()
    this.name = name
    this.text = text
    this.#params = params
    this.#settle = settle
  }

  submit(connection: Connection): void {
    const { parsedStatements, submittedNamedStatements } = connection
    if (parsedStatements[this.name] === undefined && submittedNamedStatements[this.name] === undefined) {
      connection.parse({ name: this.name, text: this.text })
      submittedNamedStatements[this.name] = this.text
    }
    connection.bind({ statement: this.name, values: this.#params })
    connection.execute()
    connection.sync()
  }

  handleDataRow({ fields }: { readonly fields: SqlRow }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#rows)
  }

  handleError(error: Error): void {
    this.#settle.reject(error)
  }
}

// A pipelined client accepts only instances of this class, whose constructor copies options that are not used here.
Object.setPrototypeOf(LeanQuery.prototype, pg.Query.prototype)

/** The methods of a `pg` connection that a query uses; they are missing in its types. */
export type Connection = {
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: { readonly statement: string; readonly values: Statement['params'] }): void
  execute(): void
  sync(): void
}
