/**
 * A database error, in one form for all drivers. Never shown to a caller: the dialect converts it to a ServiceError
 * with a message of docs/contract.md#what-the-caller-sees.
 */
export type SqlFaultDetail = {
  /** SQLSTATE, five characters; `08000` if the database could not be reached. */
  readonly state: string
  /** The server's own error number (MySQL, MariaDB). */
  readonly errno?: number
  readonly constraint?: string
  readonly table?: string
  readonly column?: string
  /** PostgreSQL's details, such as the dependents of an object. */
  readonly detail?: string | undefined
  /** The server function that raised the error (PostgreSQL). */
  readonly routine?: string | undefined
  /** In a batch, the index of the failed statement; unknown over HTTP, where a batch has one answer. */
  readonly position?: number
  readonly cause?: unknown
}

/** States of a canceled statement: by its time limit, or because the client disconnected. */
export const TIMED_OUT = '57014'
export const CANCELED = '57000'
/** State if neither we nor the server had a free connection. Nothing was sent. */
export const BUSY = '53300'
/** State of a statement that, or whose answer, exceeds a size limit. */
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
/** State that a trigger raises by default. */
const RAISED = 'P0001'

/** True if a trigger raised a connection, account, right or server state: the error is about the row. */
function isOfRow({ state, routine }: SqlFaultDetail): boolean {
  return routine === RAISE && /^(?:08|28|3D|42501|53|54|57|58)/.test(state)
}

/** True if the database could not be reached, or is starting or stopping. */
export function isUnreached({ state }: Pick<SqlFault, 'state'>): boolean {
  return state === '08000' || state === '08001' || state === '57P03'
}

/**
 * True if it is unknown whether the failed work was done: its connection was lost, or an administrator ended it without a
 * statement's position, so at the commit or in a single-statement transaction.
 */
export function isInDoubt({ state, position }: Pick<SqlFault, 'state' | 'position'>): boolean {
  return state.startsWith('08') || (state === ENDED && position === undefined)
}

const ENDED = '57P01'

/** Part of Vitess's message for unsupported statements, whose error numbers are ambiguous. */
export const VITESS_UNSUPPORTED = /\bVT1[02]001\b/
