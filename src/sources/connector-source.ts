/**
 * A source behind a data connector. Plans become requests of the protocol, by what each collection declares; a request by
 * key never relies on the connector for the caller's row filter, which is held against the record itself. Plans hold no
 * relations here: `across.ts` takes them apart before.
 */
import { type FillHole, filledFilter } from '../core/connector/by-key.ts'
import type { ReadPlan } from '../core/plan/plan.ts'
import { shapeRow } from '../core/plan/shape.ts'
import { type ConnectorSourceDeps, createConnectorReads, filledSelection, type Wanted } from './connector-read.ts'
import { createConnectorWrites } from './connector-write.ts'
import type { Source } from './source.ts'

export function openConnectorSource(deps: ConnectorSourceDeps): Source {
  const reads = createConnectorReads(deps)
  return {
    prepareList(plan) {
      return async (fill, reader) => {
        const wanted = filled(plan, fill)
        const { rows, count } = await reads.many(wanted, reader)
        return { data: JSON.stringify(rows.map((row) => shapeRow(wanted.selection, row))), total: count }
      }
    },

    prepareOne(plan) {
      return async (fill, reader) => {
        const wanted = filled(plan, fill)
        const [row] = await reads.byKey(wanted, reader)
        return row === undefined ? undefined : JSON.stringify(shapeRow(wanted.selection, row))
      }
    },

    prepareLookup(plan, keys) {
      return async (fill, reader) => {
        const wanted = filled(plan, fill)
        const { rows } = await reads.many({ ...wanted, keys }, reader)
        return JSON.stringify(rows.map((row) => shapeRow(wanted.selection, row)))
      }
    },

    prepareWrite: createConnectorWrites(deps, reads),
  }
}

/** The plan with every operand known. */
function filled(plan: ReadPlan, fill: FillHole): Wanted {
  return { ...plan, where: filledFilter(plan.where, fill), selection: filledSelection(plan.selection, fill) }
}
