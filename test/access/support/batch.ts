/** A batch of one caller: its operations are read, planned as one list of steps, and run, also under an Idempotency-Key. */
import { writeOnlyAccess } from '../../../src/core/access/access.ts'
import { ServiceError } from '../../../src/core/error.ts'
import type { Model } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { planInList } from '../../../src/core/plan/aggregate.ts'
import { parseOperations } from '../../../src/core/plan/batch/operation.ts'
import { planBatch } from '../../../src/core/plan/batch/plan.ts'
import { openCollection } from '../../../src/core/plan/names.ts'
import { OperationFault, withOperation } from '../../../src/core/plan/operation-fault.ts'
import { compileChange } from '../../../src/core/sql/ddl/compile-change.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { compile } from '../../../src/core/sql/statement.ts'
import { ledgerColumns, ledgerOf } from '../../../src/core/sql/write/ledger-table.ts'
import { nodeTagOf } from '../../../src/platform/node/tags.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import type { RequestScope } from '../../../src/services/caller/callers.ts'
import { createOnceWrites, watched } from '../../../src/services/data/once/once.ts'
import { openSqlSource } from '../../../src/sources/sql-source.ts'
import { model as library, now } from './library.ts'
import type { Caller, Policy } from './policies.ts'
import { bindingsOf, refusalOf, viewerFor } from './service.ts'

/** `text` is what the caller is told instead of answers, `operation` and `place` where it failed. */
export type Told = {
  readonly status: number
  readonly answers?: readonly unknown[]
  readonly text?: string
  readonly operation?: number
  readonly place?: string | undefined
  /** Whether the answer is that of an earlier request. */
  readonly isReplayed?: boolean
}

type Database = { readonly driver: SqlDriver; readonly dialect: Dialect; readonly model?: Model }
type Who = { readonly policies: readonly Policy[]; readonly caller: Caller }

const limits = { default: 100, max: 10_000 }

/** Under a key with `once`, for somebody who has signed in. */
export async function runBatch(database: Database, who: Who, sent: readonly object[], once?: string): Promise<Told> {
  const { driver, dialect, model = library } = database
  const { policies, caller } = who
  const rights = watched(viewerFor(policies, caller, model))
  const { viewer } = rights
  const open = (name: string, action: Parameters<typeof openCollection>[3]) => {
    const { collection } = openCollection(model, viewer, name, action)
    const access = viewer.accessTo(collection, 'read')
    const own = access.kind === 'granted' ? access : writeOnlyAccess
    return {
      collection,
      read: { viewer, collection, limits, maxRows: Number.POSITIVE_INFINITY, access: own, planInList },
    }
  }
  try {
    const generators = { uuid: () => '', now: () => '' }
    const operations = parseOperations({ operations: sent })
    const plan = atOnce(planBatch({ viewer, generators, open, most: 1_000 }, operations))
    const source = openSqlSource({ driver, dialect })
    if (once === undefined) return { status: 200, answers: await source.prepareBatch(plan)(bindingsOf([])) }
    let isReplayed = false
    const answers = await writesOf(driver).run({
      scope: scopeOf(caller),
      once: { key: once, request: 'POST items', onReplay: () => (isReplayed = true), waited: 0 },
      body: JSON.stringify(sent),
      model: withLedger(model),
      rights,
      source,
      plan,
    })
    return { status: 200, answers, isReplayed }
  } catch (error) {
    const told = refusalOf(error)
    return error instanceof OperationFault
      ? { ...told, operation: error.operation, place: placeOf(withOperation(error.fault, error.operation)) }
      : told
  }
}

/** What stands between the message and the reason. */
function placeOf({ cause }: ServiceError): string | undefined {
  return cause instanceof ServiceError && cause.cause instanceof ServiceError ? cause.message : undefined
}

const ledgerSchema = ''

function withLedger(model: Model): Model {
  return { ...model, sources: new Map([...model.sources].map(([id, source]) => [id, { ...source, ledgerSchema }])) }
}

function scopeOf({ userId }: Caller): RequestScope {
  const caller = userId === undefined ? { kind: 'anonymous' } : { kind: 'user', userId }
  return { caller, workspace: { id: 'workspace' } } as RequestScope
}

function writesOf(driver: SqlDriver) {
  return createOnceWrites({
    ports: {
      background: () => {},
      clock: { now: () => now },
      database: driver,
      licensing: { pause: async () => {} },
      observe: () => {},
      tagOf: nodeTagOf,
    } as unknown as Parameters<typeof createOnceWrites>[0]['ports'],
    bindings: () => bindingsOf([]),
    timeToLive: 3_600_000,
    timeLimit: 0,
  })
}

/** The table of keys that batches are under. */
export async function createLedger({ driver, dialect }: Database): Promise<void> {
  for (const id of library.sources.keys()) {
    const table = ledgerOf({ id, ledgerSchema })
    const columns = ledgerColumns.map((column) => ({
      ...column,
      isList: false,
      isAutoincrement: false,
      initial: undefined,
    }))
    const primaryKey = { dbName: table.key, kind: 'primary', columns: ['scope'] } as const
    for (const statement of compileChange({ kind: 'createTable', table, columns, primaryKey }, dialect)) {
      await driver.query(compile(statement, dialect))
    }
  }
}
