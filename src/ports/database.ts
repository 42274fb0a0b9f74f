/** Databases that speak SQL: the one of the service, and those of data sources. */
import type { SqlTarget } from '../core/sql/address.ts'
import type { PlanTerm } from '../core/sql/begin/plan-term.ts'
import type { SqlParam, Statement } from '../core/sql/statement.ts'

/** One row, its values in column order, each in the database's own text form. */
export type SqlRow = readonly SqlParam[]

/** The request that waits for the result of a statement. */
export interface QueryContext {
  /** Returns true when the client has disconnected. Polled during long statements; absent if that cannot be known. */
  isDisconnected?(): boolean
  /** Whose statement it is, by `ofShare`: what one has running and slow leaves room for others. */
  readonly share?: string
  /** Which account of the share asked: what one has running and slow leaves room for the others, too. */
  readonly account?: string | undefined
  /** It is work of the service itself, as without a context: without limits, and some drivers run it again. */
  readonly isInternal?: true
  /** The statement changes rows. A driver that cannot tell whether a cancelled one took effect must not cancel it. */
  readonly isWriting?: boolean
  /**
   * Milliseconds that a statement of our own may take, in place of the driver's limit: one about the catalog, which nobody
   * knows to answer. Its answer is bounded by MAX_RECEIVED alone.
   */
  readonly timeLimit?: number
  /** What the statement was planned on: drivers begin nothing when that is over, and throw SqlFault OUTDATED. */
  readonly term?: PlanTerm | undefined
  /**
   * Whether the statement may be sent behind those of others, where what is sent cannot be taken back: it may then begin late,
   * however soon its plan was looked at. It adds a row, and reads nothing but that row.
   */
  readonly mayFollow?: boolean
  /**
   * Gets the answers of a batch before it is committed; what it throws ends the batch, and nothing of it is left. Where a
   * statement fails, it gets those before, and what it throws is the fault in place of that one's. Only drivers that have
   * `confirms` call it.
   */
  readonly confirm?: (answers: readonly (readonly SqlRow[])[]) => void
}

/**
 * One database. Its errors are thrown as `SqlFault`.
 * There are no interactive transactions, since some drivers are HTTP only (docs/decisions/002).
 * A statement with a `context` ends after the driver's time limit (fault TIMED_OUT); a read also ends soon after its
 * client disconnects (fault CANCELED). Where the database sends the rows of an answer one by one, the driver refuses more
 * than MAX_TEXT bytes of them (fault TOO_LARGE), and nothing is written; elsewhere the statement itself has this bound.
 * A statement without a context, or with one that is internal, is work such as a migration, and has no limit (decisions 033 and 040).
 */
export interface SqlDriver {
  /** Runs one statement and returns its rows. */
  query(statement: Statement, context?: QueryContext): Promise<readonly SqlRow[]>
  /**
   * Like `query`, for results too large for memory: resolves with the first row, and reads further rows on demand. A
   * consumer that stops early must call `return`. Absent where the driver receives whole results only.
   */
  stream?(statement: Statement, context?: QueryContext): Promise<AsyncIterator<SqlRow>>
  /** Runs all statements in order in one transaction, all or nothing. Returns the rows of each. */
  batch(statements: readonly Statement[], context?: QueryContext): Promise<readonly (readonly SqlRow[])[]>
  /**
   * Like `batch`, with statements that are made when the one before was answered. Absent where a batch is sent whole;
   * elsewhere statements get their answers by `onRows` in both (decision 060).
   */
  converse?(statements: Statements, context?: QueryContext): Promise<readonly (readonly SqlRow[])[]>
  /** Whether the answers of a batch with a context can be confirmed before it is committed, and are bounded by the driver. */
  readonly confirms?: true
  /** Closes every connection after its running statement ends. */
  close(): Promise<void>
}

/** Some are only made when those before were answered. */
export type Statements = Iterable<Statement> | AsyncIterable<Statement>

export type ConversingDriver = SqlDriver & Required<Pick<SqlDriver, 'converse'>>

/** Connects to the databases of data sources, with the drivers of this platform. */
export interface SqlDatabases {
  /** Returns what this platform cannot do of a configuration, and why; undefined if it can connect to the target. */
  refusal(target: SqlTarget): TargetRefusal | undefined
  /**
   * Returns a driver for the database of `target`, which connects on first use. Its errors are SqlFaults. Unless the
   * configuration allows private hosts, every connection checks all addresses that the name resolves to and refuses
   * private ones with `08004`. Throws nothing itself for targets without a refusal.
   */
  open(target: SqlTarget): SqlDriver
}

/** `member` is the path within the configuration. */
export type TargetRefusal = { readonly member: string; readonly reason: string }
