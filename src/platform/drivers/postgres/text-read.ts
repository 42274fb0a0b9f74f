/**
 * One named read on a pipelined `pg` client, with no more ceremony than the protocol needs: the rows' description is not
 * asked for, since every value stays text, and there is no result object, event or copied configuration.
 */
import pg from 'pg'
import type { Statement } from '../../../core/sql/statement.ts'
import type { SqlRow } from '../../../ports.ts'

/** Answers the rows in the server's own text. Rejects with what `pg` says. */
export function readText(client: pg.Client, name: string, statement: Statement): Promise<readonly SqlRow[]> {
  return new Promise((resolve, reject) => {
    client.query(new TextRead(name, statement, { resolve, reject }) as unknown as pg.Submittable)
  })
}

type Settle = {
  readonly resolve: (rows: readonly SqlRow[]) => void
  readonly reject: (error: Error) => void
}

/** What `pg` calls on a query while it is on its way. */
class TextRead {
  readonly name: string
  readonly text: string
  readonly #params: Statement['params']
  readonly #settle: Settle
  readonly #rows: SqlRow[] = []

  constructor(name: string, { text, params }: Statement, settle: Settle) {
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

// A pipelined client lets in only queries of this class, whose own constructor copies what is never used here.
Object.setPrototypeOf(TextRead.prototype, pg.Query.prototype)

/** The part of a `pg` connection that a query writes to; its types have only the name. */
type Connection = {
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: { readonly statement: string; readonly values: Statement['params'] }): void
  execute(): void
  sync(): void
}
