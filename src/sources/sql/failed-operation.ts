/**
 * Finds the failed operation of a batch if the driver does not report the failed statement, by transactions that never commit.
 */
import { SqlFault } from '../../core/sql/fault.ts'
import { compile, type Statement, sql } from '../../core/sql/statement.ts'
import type { RetryDeps } from './repeat.ts'

/** Returns the first operation up to which the batch fails in the same way; undefined if it no longer fails. */
export async function search(
  { driver, dialect }: RetryDeps,
  { state }: SqlFault,
  sent: { readonly operations: readonly (number | undefined)[]; readonly statements: readonly Statement[] },
): Promise<number | undefined> {
  const { operations, statements } = sent
  const last = Math.max(...operations.map((operation) => operation ?? 0))
  const ending = compile(dialect.slots.assertion(sql`1 = 0`, ENDED), dialect)
  const failsUpTo = async (operation: number) => {
    const some = statements.filter((_, index) => (operations[index] ?? 0) <= operation)
    try {
      await driver.batch([...some, ending], { isWriting: true })
      return false
    } catch (error) {
      if (!(error instanceof SqlFault)) throw error
      return !error.message.includes(ENDED) && error.state === state
    }
  }
  let low = 0
  let high = last
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await failsUpTo(middle)) high = middle
    else low = middle + 1
  }
  return low < last || (await failsUpTo(last)) ? low : undefined
}

const ENDED = 'service:ended'
