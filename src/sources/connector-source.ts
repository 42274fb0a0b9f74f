/**
 * A source behind a data connector. Plans become protocol requests according to the declaration of each collection. A
 * request by key does not rely on the connector for the caller's row filter, which is checked against the record
 * itself. Plans have no relations here; `cross-source.ts` resolves them first.
 */
import { bindFilter } from '../core/connector/by-key.ts'
import type { ReadPlan } from '../core/plan/plan.ts'
import { projectRow } from '../core/plan/project-row.ts'
import type { Bindings } from '../core/query/placeholder.ts'
import { bindSelection, type ConnectorRead, type ConnectorSourceDeps, createConnectorReads } from './connector-read.ts'
import { createConnectorWrites } from './connector-write.ts'
import type { Source } from './source.ts'

/** Opens a source; the connector starts with the first request. */
export function openConnectorSource(deps: ConnectorSourceDeps): Source {
  const reads = createConnectorReads(deps)
  return {
    prepareList(plan) {
      return async (bindings, options) => {
        const wanted = boundRead(plan, bindings)
        const { rows, count } = await reads.many(wanted, options)
        return { data: JSON.stringify(rows.map((row) => projectRow(wanted.selection, row))), total: count }
      }
    },

    prepareOne(plan) {
      return async (bindings, options) => {
        const wanted = boundRead(plan, bindings)
        const [row] = await reads.byKey(wanted, options)
        return row === undefined ? undefined : JSON.stringify(projectRow(wanted.selection, row))
      }
    },

    prepareLookup(plan, keys) {
      return async (bindings, options) => {
        const wanted = boundRead(plan, bindings)
        const { rows } = await reads.many({ ...wanted, keys }, options)
        return JSON.stringify(rows.map((row) => projectRow(wanted.selection, row)))
      }
    },

    prepareWrite: createConnectorWrites({ ...deps, reads }),
  }
}

/** Returns the plan with every operand bound. */
function boundRead(plan: ReadPlan, bindings: Bindings): ConnectorRead {
  return { ...plan, where: bindFilter(plan.where, bindings), selection: bindSelection(plan.selection, bindings) }
}
