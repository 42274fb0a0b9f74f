/** A batch of one caller: its operations are read, planned as one list of steps, and run. */
import { writeOnlyAccess } from '../../../src/core/access/access.ts'
import type { Model } from '../../../src/core/model/model.ts'
import { parseOperations } from '../../../src/core/plan/batch/operation.ts'
import { planBatch } from '../../../src/core/plan/batch/plan.ts'
import { openCollection } from '../../../src/core/plan/names.ts'
import { OperationFault } from '../../../src/core/plan/operation-fault.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import type { SqlDriver } from '../../../src/ports.ts'
import { openSqlSource } from '../../../src/sources/sql-source.ts'
import { atOnce } from '../../support/run/at-once.ts'
import { model as library } from './library.ts'
import type { Caller, Policy } from './policies.ts'
import { bindingsOf, refusalOf, viewerFor } from './service.ts'

/** `text` is what the caller is told instead of answers, and `operation` the place of what failed. */
export type Told = {
  readonly status: number
  readonly answers?: readonly unknown[]
  readonly text?: string
  readonly operation?: number
}

const limits = { default: 100, max: 10_000 }

export async function runBatch(
  database: { readonly driver: SqlDriver; readonly dialect: Dialect; readonly model?: Model },
  { policies, caller }: { readonly policies: readonly Policy[]; readonly caller: Caller },
  sent: readonly object[],
): Promise<Told> {
  const { driver, dialect, model = library } = database
  const viewer = viewerFor(policies, caller, model)
  const open = (name: string, action: Parameters<typeof openCollection>[3]) => {
    const { collection } = openCollection(model, viewer, name, action)
    const access = viewer.accessTo(collection, 'read')
    const own = access.kind === 'granted' ? access : writeOnlyAccess
    return { collection, read: { viewer, collection, limits, maxRows: Number.POSITIVE_INFINITY, access: own } }
  }
  try {
    const generators = { uuid: () => '', now: () => '' }
    const operations = parseOperations({ operations: sent })
    const plan = atOnce(planBatch({ viewer, generators, open, most: 1_000 }, operations))
    return { status: 200, answers: await openSqlSource({ driver, dialect }).prepareBatch(plan)(bindingsOf([])) }
  } catch (error) {
    return { ...refusalOf(error), ...(error instanceof OperationFault && { operation: error.operation }) }
  }
}
