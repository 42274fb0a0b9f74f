/**
 * A database error, in one form for all drivers. Never shown to a caller: the dialect converts it to a ServiceError
 * with a message of docs/contract.md#what-the-caller-sees.
 */
export type SqlFaultDetail = {
  /** SQLSTATE, five characters; `08000` if the database could not be reached. */
  readonly state: string
  /** The server's own error number, where it has one (MySQL, MariaDB). */
  readonly errno?: number
  readonly constraint?: string
  readonly table?: string
  readonly column?: string
  /** What else PostgreSQL says of it, such as what depends on an object. */
  readonly detail?: string | undefined
  /** The server function that raised the error (PostgreSQL). */
  readonly routine?: string | undefined
  /** In a batch, the index of the failed statement; not known over HTTP that answers a batch as a whole. */
  readonly position?: number
  readonly cause?: unknown
}

/** States of a cancelled statement: by its time limit, or because the client disconnected. */
export const TIMED_OUT = '57014'
export const CANCELED = '57000'
/** State of what found no connection free, of ours or of the server's. Nothing was sent. */
export const BUSY = '53300'
/** State of a statement whose answer, or whose own size, exceeds a limit. */
export const TOO_LARGE = '54000'

export class SqlFault extends Error {
  readonly state: string
  readonly errno: number | undefined
  readonly constraint: string | undefined
  readonly table: string | undefined
  readonly column: string | undefined
  readonly detail: string | undefined
  readonly routine: string | undefined
  readonly position: number | undefined

  constructor(message: string, detail: SqlFaultDetail) {
    super(message, { cause: detail.cause })
    this.name = 'SqlFault'
    this.state = isOfRow(detail) ? RAISED : detail.state
    this.errno = detail.errno
    this.constraint = detail.constraint
    this.table = detail.table
    this.column = detail.column
    this.detail = detail.detail
    this.routine = detail.routine
    this.position = detail.position
  }
}

/** The server function by which PL/pgSQL raises an error. */
export const RAISE = 'exec_stmt_raise'
/** State of what a trigger raises without one of its own. */
const RAISED = 'P0001'

/** Whether a trigger raised a state of connections, accounts, rights or servers: it speaks of the row, since the database was reached. */
function isOfRow({ state, routine }: SqlFaultDetail): boolean {
  return routine === RAISE && /^(?:08|28|3D|42501|53|54|57|58)/.test(state)
}

/** Whether the database was not there to take it: it could not be reached, is starting or stopping. */
export function isUnreached({ state }: Pick<SqlFault, 'state'>): boolean {
  return state === '08000' || state === '08001' || state === '57P03'
}

/**
 * Whether nobody knows if what failed was done: its connection was lost, or an administrator ended it where no statement
 * of a transaction has a position, which is at its commit, or at a statement that is its own transaction.
 */
export function isInDoubt({ state, position }: Pick<SqlFault, 'state' | 'position'>): boolean {
  return state.startsWith('08') || (state === ENDED && position === undefined)
}

const ENDED = '57P01'

/** In the message of what Vitess cannot do; its error number is often that of something else. */
export const VITESS_UNSUPPORTED = /\bVT1[02]001\b/
