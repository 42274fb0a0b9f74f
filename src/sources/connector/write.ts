/**
 * Writes through a connector. There are no transactions, so a request becomes exactly one write of one collection, and
 * every check runs before it: rows are read first, checked in their current and their new state, and only then written.
 * A request that needs more than one write is refused (422).
 */

import { bindFilter, bindText, keyFromFilter } from '../../core/connector/by-key.ts'
import type { Collection } from '../../core/model/model.ts'
import { wireValue } from '../../core/model/wire.ts'
import type { Assignment, WritePlan } from '../../core/plan/plan.ts'
import type { Filter } from '../../core/query/filter.ts'
import type { Bindings, Operand } from '../../core/query/placeholder.ts'
import type { Prepared } from '../source.ts'
import { type ConnectorWritesDeps, runProgram } from './program.ts'
import { type Ask, bindSelection, type ConnectorReads, createConnectorReads } from './read.ts'
import { type Data, selected, send, type Target } from './send.ts'

/** Prepares write plans; running one returns the written items as JSON array text. */
export type ConnectorWrites = (plan: WritePlan) => Prepared<string>

export function createConnectorWrites(deps: ConnectorWritesDeps): ConnectorWrites {
  const { render } = deps
  return (plan) =>
    async (bindings, { idempotencyKey, onSend, term, account } = {}) => {
      const ask: Ask = (request, fields, options) => {
        return deps.ask(request, fields, { ...(account !== undefined && { account }), ...options })
      }
      const reads = createConnectorReads({ ...deps, ask })
      const sending = {
        ...deps,
        ask,
        reads,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(onSend && { onSend }),
        term,
      }
      const selection = bindSelection(plan.selection, bindings)
      switch (plan.kind) {
        case 'create': {
          const rows = plan.rows.map((row) => dataOf(row, bindings))
          if (rows.length === 0) return '[]'
          return render(selection, await send(sending, plan.collection, selection, { kind: 'create', rows }))
        }
        case 'update': {
          const where = bindFilter(plan.where, bindings)
          const data = dataOf(plan.assignments, bindings)
          if (plan.assignments.length === 0) {
            const rows = await reads.byKey({ collection: plan.collection, where, selection })
            return render(selection, rows)
          }
          const target = await targetOf(reads, plan.collection, where)
          if (target === undefined) return '[]'
          return render(selection, await send(sending, plan.collection, selection, { kind: 'update', target, data }))
        }
        case 'delete': {
          const target = await targetOf(reads, plan.collection, bindFilter(plan.where, bindings))
          if (target === undefined) return '[]'
          return render(selection, await send(sending, plan.collection, selection, { kind: 'delete', target }))
        }
        case 'program':
          return render(selection, await runProgram({ sending, plan, bindings, selection }))
      }
    }
}

/** If the filter names a key, its other conditions are checked against the record first. */
async function targetOf(reads: ConnectorReads, collection: Collection, where: Filter): Promise<Target | undefined> {
  const named = keyFromFilter(collection, where)
  if (named === undefined) return { kind: 'filter', filter: where }
  if (named.rest.kind === 'none') return undefined
  if (named.rest.kind !== 'all') {
    const rows = await reads.byKey({ collection, where, selection: selected(collection.primaryKey) })
    if (rows.length === 0) return undefined
  }
  return { kind: 'key', key: named.key }
}

function dataOf(row: readonly Assignment<Operand>[], bindings: Bindings): Data {
  return Object.fromEntries(
    row.map(({ field, value }) => [field.dbName, wireValue(field, value === null ? null : bindText(value, bindings))]),
  )
}
