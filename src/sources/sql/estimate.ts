/** Estimates the number of rows of a list within a short time, so that the list does not wait for it. */
import type { ReadPlan } from '../../core/plan/plan.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { compileEstimate, MOST_COUNTED } from '../../core/sql/read/estimate.ts'
import { binder } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { ReadOptions } from '../source.ts'

/** Maximum milliseconds for an estimate. */
const MOMENT = 50

type Deps = { readonly driver: SqlDriver; readonly dialect: Dialect }

/** Prepares an estimate that is null if none was found in time; it never fails. */
export async function prepareSqlEstimate({ driver, dialect }: Deps, plan: ReadPlan) {
  const syntax = await dialect.aggregates()
  const compiled = compileEstimate(plan, { dialect, syntax })
  const count = binder(compiled.count)
  const limit = compiled.limit && binder(compiled.limit)
  const guess = compiled.guess && binder(compiled.guess)

  async function counted(bindings: Bindings, options: ReadOptions): Promise<number | undefined> {
    const rows =
      limit === undefined
        ? await driver.query(count(bindings), options)
        : (await driver.batch([limit(bindings), count(bindings)], options)).at(-1)
    return Number(rows?.[0]?.[0])
  }

  async function guessed(bindings: Bindings, options: ReadOptions): Promise<number | undefined> {
    return guess && syntax.estimate.read(await driver.query(guess(bindings), options))
  }

  return async (bindings: Bindings, options: ReadOptions): Promise<number | null> => {
    let isOver = false
    const patient = { ...options, isDisconnected: () => isOver || options.isDisconnected?.() === true }
    const found: { counted?: number | undefined; guessed?: number | undefined } = {}
    const working = Promise.allSettled([
      guessed(bindings, patient).then((number) => {
        found.guessed = number
      }),
      // A count with its own limit is not canceled from here: an embedded database would have to restart.
      counted(bindings, limit === undefined ? patient : options).then((number) => {
        found.counted = number
      }),
    ])
    const over = Promise.withResolvers<void>()
    const timer = setTimeout(over.resolve, MOMENT)
    await Promise.race([working, over.promise])
    clearTimeout(timer)
    isOver = true
    return estimated(found)
  }
}

function estimated(found: { readonly counted?: number | undefined; readonly guessed?: number | undefined }) {
  const { counted, guessed } = found
  if (counted !== undefined && counted <= MOST_COUNTED) return counted
  if (guessed === undefined) return null
  return counted === undefined ? guessed : Math.max(guessed, counted)
}
