/**
 * A source behind a data connector. Plans become protocol requests according to the declaration of each collection. A
 * request by key does not rely on the connector for the caller's row filter, which is checked against the record
 * itself. Plans have no relations here; `cross-source.ts` resolves them first.
 */
import { bindFilter } from '../../core/connector/by-key.ts'
import { operationBindings } from '../../core/plan/batch/planned-operation.ts'
import { faultOf } from '../../core/plan/operation-fault.ts'
import type { PlannedOperation, ReadPlan } from '../../core/plan/plan.ts'
import type { Row } from '../../core/query/evaluate.ts'
import { queryFault } from '../../core/query/parse.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import { answeredWalk, walkPage } from '../../core/sql/read/walk-page.ts'
import { assertionError } from '../assertion-error.ts'
import { createRenderRows } from '../rendered-rows.ts'
import type { BatchAnswer, Prepared, Source } from '../source.ts'
import { bindSelection, type ConnectorRead, type ConnectorSourceDeps, createConnectorReads } from './read.ts'
import { bindPage, cursorAt } from './walk.ts'
import { type ConnectorWrites, createConnectorWrites } from './write.ts'

/** Opens a source; the connector starts with the first request. */
export function openConnectorSource(deps: ConnectorSourceDeps): Source {
  const reads = createConnectorReads(deps)
  const render = createRenderRows(deps)
  const write = createConnectorWrites({ ...deps, render })
  const source: Source = {
    prepareList(plan) {
      if (plan.grouping !== undefined) throw queryFault('aggregate', 'the data source has no aggregates', '4010')
      return async (bindings, options) => {
        const wanted = boundRead(plan, bindings)
        const { rows, count } = await reads.many(wanted, options)
        const { shown, cursors } = shownOf(rows, plan.page, bindings)
        return { data: await render(wanted.selection, shown), total: count, ...(cursors && { cursors }) }
      }
    },

    prepareOne(plan) {
      return async (bindings, options) => {
        const wanted = boundRead(plan, bindings)
        const [row] = await reads.byKey(wanted, options)
        return row === undefined ? undefined : (await render(wanted.selection, [row])).slice(1, -1)
      }
    },

    writeOnce: () => Promise.reject(new TypeError('a connector has no ledger')),

    repeatsByKey: async (collection) => (await deps.capabilities(collection)).idempotent,

    prepareBatch: ({ operations, values }) => {
      const [only, ...others] = operations
      if (only === undefined || others.length > 0) {
        throw queryFault('operations', 'must hold one operation: the data source has no transactions', '4010')
      }
      const run = alone({ ...source, write }, only)
      return (bindings, options) =>
        run(operationBindings(bindings, 0, values[0]), options).catch((error: unknown) => {
          throw faultOf(error, 0)
        })
    },
  }
  return source
}

/** Runs one operation as a batch of its own. */
function alone(
  { prepareList, prepareOne, write }: Pick<Source, 'prepareList' | 'prepareOne'> & { readonly write: ConnectorWrites },
  { plan, isOne }: PlannedOperation,
): Prepared<BatchAnswer> {
  const found = (data: string): BatchAnswer => {
    if (isOne && data === '[]') throw assertionError({ assertion: 'noRecord' })
    return [{ data, total: undefined }]
  }
  if (plan.kind !== 'read') {
    const run = write(plan)
    return async (bindings, options) => found(await run(bindings, options))
  }
  if (plan.page === undefined) {
    const run = prepareOne(plan)
    return async (bindings, options) => found(`[${(await run(bindings, options)) ?? ''}]`)
  }
  const run = prepareList(plan)
  return async (bindings, options) => [await run(bindings, options)]
}

/** The rows of a page without the extra row, and its cursors. */
function shownOf(rows: readonly Row[], page: ReadPlan['page'], bindings: Bindings) {
  const walk = answeredWalk(page, bindings)
  if (page?.walk === undefined || walk === undefined) return { shown: rows }
  const { order } = page
  const { digest } = page.walk
  return walkPage(rows, walk, (row) => cursorAt(order, digest, row))
}

/** Returns the plan with every operand bound. */
function boundRead(plan: ReadPlan, bindings: Bindings): ConnectorRead {
  const { page, where, selection } = plan
  return {
    ...plan,
    where: bindFilter(where, bindings),
    selection: bindSelection(selection, bindings),
    page: bindPage(page, bindings),
  }
}
