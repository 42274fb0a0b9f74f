/**
 * What a database said when it refused a statement, in one form for every driver. Never shown to a caller: the dialect
 * turns it into a ServiceError with a message of docs/contract.md#what-the-caller-sees.
 */
export type SqlFaultDetail = {
  /** SQLSTATE, five characters; `08000` where the database could not be reached at all. */
  readonly state: string
  /** The server's own error number, where it has one (MySQL, MariaDB). */
  readonly errno?: number
  readonly constraint?: string
  readonly table?: string
  readonly column?: string
  /** The function of the server that refused (PostgreSQL). */
  readonly routine?: string | undefined
  /** In a batch, the place of the statement that failed, counted from 0; known where statements commit one by one. */
  readonly position?: number
  readonly cause?: unknown
}

/** States of a statement that was ended: by its time limit, and because nobody waited for its answer any more. */
export const TIMED_OUT = '57014'
export const CANCELED = '57000'

export class SqlFault extends Error {
  readonly state: string
  readonly errno: number | undefined
  readonly constraint: string | undefined
  readonly table: string | undefined
  readonly column: string | undefined
  readonly routine: string | undefined
  readonly position: number | undefined

  constructor(message: string, detail: SqlFaultDetail) {
    super(message, { cause: detail.cause })
    this.name = 'SqlFault'
    this.state = detail.state
    this.errno = detail.errno
    this.constraint = detail.constraint
    this.table = detail.table
    this.column = detail.column
    this.routine = detail.routine
    this.position = detail.position
  }
}
