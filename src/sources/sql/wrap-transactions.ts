/** A driver that adds statements before and after those of the caller in each transaction. */
import { SqlFault } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver, SqlRow, Statements } from '../../ports/database.ts'

/** Answers, and positions in faults, refer to the caller's statements only. */
export function wrapTransactions(
  driver: SqlDriver,
  before: readonly Statement[],
  behind: readonly Statement[],
): Pick<SqlDriver, 'query' | 'batch' | 'converse'> {
  const { converse } = driver
  const own = async (work: Promise<readonly (readonly SqlRow[])[]>) => {
    try {
      return (await work).slice(before.length, -behind.length || undefined)
    } catch (error) {
      throw error instanceof SqlFault ? moved(error, before.length) : error
    }
  }
  const batch: SqlDriver['batch'] = (statements, context) => {
    const { confirm } = context ?? {}
    const ownRows = (rows: readonly (readonly SqlRow[])[]) =>
      rows.slice(before.length, before.length + statements.length)
    const ownContext = confirm && {
      ...context,
      confirm: (rows: readonly (readonly SqlRow[])[]) => confirm(ownRows(rows)),
    }
    return own(driver.batch([...before, ...statements, ...behind], ownContext ?? context))
  }
  return {
    batch,
    query: async (statement, context) => (await batch([statement], context))[0] ?? [],
    ...(converse && {
      converse: (statements, context) => own(converse(inOrder([before, statements, behind]), context)),
    }),
  }
}

async function* inOrder(parts: readonly Statements[]): AsyncGenerator<Statement, void> {
  for (const part of parts) yield* part
}

function moved(fault: SqlFault, by: number): SqlFault {
  const { message, cause, position = -1, ...detail } = fault
  return new SqlFault(message, { ...detail, cause, ...(position >= by && { position: position - by }) })
}
