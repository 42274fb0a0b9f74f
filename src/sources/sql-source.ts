/** A source behind an SQL driver: its dialect compiles plans, and each read is one statement. */
import type { ChangesPlan, RecordedChanges } from '../core/plan/history/changes.ts'
import type { BatchPlan, Grouping, Page, Plan, ReadPlan } from '../core/plan/plan.ts'
import { hasAggregatesInLists } from '../core/plan/relations.ts'
import { notACursor } from '../core/query/cursor.ts'
import { all, and, type Filter } from '../core/query/filter.ts'
import type { Bindings } from '../core/query/placeholder.ts'
import type { TableRef } from '../core/sql/ddl/change.ts'
import type { Dialect } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { answeredWalk } from '../core/sql/read/walk-page.ts'
import { compileFirstStretch, compilePieces, compileRead } from '../core/sql/read.ts'
import { binder, type Statement } from '../core/sql/statement.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../ports/database.ts'
import { lazySource } from './lazy-source.ts'
import { type ListAnswer, type Prepared, type Source, weighing } from './source.ts'
import { prepareSqlBatch } from './sql/batch.ts'
import { throwRefused } from './sql/caller-error.ts'

type Rows = readonly SqlRow[]

export type SqlSourceDeps = {
  readonly driver: SqlDriver
  readonly dialect: Dialect
}

export function openSqlSource(deps: SqlSourceDeps): Source {
  const { driver, dialect } = deps
  const plain = createSqlSource(deps)
  let loading: Promise<Source> | undefined
  const aggregating = lazySource(() => {
    loading ??= Promise.all([import('../core/sql/read/aggregate.ts'), dialect.aggregates()]).then(
      ([{ withAggregatesInLists }, syntax]) =>
        createSqlSource({ driver, dialect: withAggregatesInLists(dialect, syntax) }),
    )
    return loading
  })
  const of = (plan: Plan | BatchPlan) => (hasAggregatesInLists(plan) ? aggregating : plain)

  return {
    prepareLong: (plan) => of(plan).prepareLong?.(plan),
    prepareList: (plan) => of(plan).prepareList(plan),
    prepareEstimate: (plan) => plain.prepareEstimate?.(plan),
    prepareOne: (plan) => of(plan).prepareOne(plan),
    prepareChanges: (plan, changes) => prepareChanges(deps, { plan, changes }),
    prepareBatch: (plan) => of(plan).prepareBatch(plan),
    writeOnce: (write) => of(write.plan).writeOnce(write),
    heldTexts: async (column, texts, options = reader) => {
      const syntax = dialect.columnTexts
      if (syntax === undefined) return texts
      const { heldTexts } = await import('./sql/held-texts.ts')
      return heldTexts({ driver, dialect, syntax }, column, texts, options).catch(throwRefused(dialect))
    },
  }
}

/** Reads the history of an item; the code is loaded on the first request. */
function prepareChanges(
  { driver, dialect }: SqlSourceDeps,
  { plan, changes }: { readonly plan: ChangesPlan; readonly changes: TableRef },
): Prepared<RecordedChanges> {
  return async (bindings, options = reader) => {
    const { compileChanges, readChanges } = await import('../core/sql/history/changes.ts')
    const statement = binder(compileChanges(plan, changes, dialect))(bindings)
    return driver.query(statement, options).then(readChanges, throwRefused(dialect))
  }
}

/** A source for plans that need what `dialect` has loaded. */
function createSqlSource(deps: SqlSourceDeps): Source {
  const { driver, dialect } = deps
  const refuse = throwRefused(dialect)
  const batchDeps = { ...deps, forms: new WeakMap(), compiled: new WeakMap() }

  // Chained by `then` instead of async functions, because each await delays every request.
  return {
    prepareList(requested: ReadPlan) {
      const plan =
        requested.keys === undefined
          ? requested
          : { ...requested, where: and([requested.where, among(requested.keys)]) }
      const answer = (rows: Rows) => dialect.answerList(rows, plan.count)
      const { grouping } = plan
      if (grouping !== undefined) {
        const compiled = compileLate(plan, grouping)
        // Awaited when it runs; an error before that must not count as an unhandled rejection.
        compiled.catch(() => {})
        return async (bindings, options = reader) => {
          const { bind, explain } = await compiled
          return driver
            .query(bind(bindings), options)
            .then(answer, (error) => {
              throw (error instanceof SqlFault && explain(error)) || error
            })
            .catch(refuse)
        }
      }
      const statement = compileRead(plan, dialect)
      const bind = binder(statement)
      const weight = statement.text.length
      if (plan.page?.walk !== undefined) {
        const all = prepareWalk(plan.page, bind, plan.count)
        const first = compileFirstStretch(plan, dialect)
        if (first === undefined) return weighing(all, weight)
        const both = inTurn(plan.page, prepareWalk(plan.page, binder(first), plan.count), all)
        return weighing(both, weight + first.text.length)
      }
      return weighing(
        (bindings, options = reader) => driver.query(bind(bindings), options).then(answer, refuse),
        weight,
      )
    },

    prepareLong(plan: ReadPlan) {
      const statement = compilePieces(plan, dialect)
      if (statement === undefined || driver.stream === undefined) return undefined
      const stream = driver.stream.bind(driver)
      const bind = binder(statement)
      return weighing(
        (bindings, options = reader) => stream(bind(bindings), options).then((pieces) => ({ pieces }), refuse),
        statement.text.length,
      )
    },

    prepareEstimate(plan: ReadPlan) {
      const prepared = import('./sql/estimate.ts').then(({ prepareSqlEstimate }) => prepareSqlEstimate(deps, plan))
      prepared.catch(() => {})
      return async (bindings, options = reader) => (await prepared)(bindings, options)
    },

    prepareOne(plan: ReadPlan) {
      const statement = compileRead(plan, dialect)
      const bind = binder(statement)
      return weighing(
        (bindings, options = reader) => driver.query(bind(bindings), options).then(dialect.answerOne, refuse),
        statement.text.length,
      )
    },

    prepareBatch: (plan) => prepareSqlBatch(batchDeps, plan),

    async writeOnce(write) {
      const { writeOnce } = await import('./once.ts')
      return writeOnce(batchDeps, write)
    },
  }

  async function compileLate(plan: ReadPlan, grouping: Grouping) {
    const [{ compileGroups, explainGroups }, syntax] = await Promise.all([
      import('../core/sql/read/aggregate.ts'),
      dialect.aggregates(),
    ])
    return {
      bind: binder(compileGroups(plan, grouping, { dialect, syntax })),
      explain: (fault: SqlFault) => explainGroups(fault, grouping, syntax),
    }
  }

  function prepareWalk(page: Page, bind: (bindings: Bindings) => Statement, isCounted: boolean): Prepared<ListAnswer> {
    const refuseWalk = page.walk?.start === undefined ? refuse : refuseCursor(page.walk.place)
    return (bindings, options = reader) => {
      const walk = answeredWalk(page, bindings)
      const answer = (rows: Rows) => dialect.answerList(rows, isCounted, walk)
      return driver.query(bind(bindings), options).then(answer, refuseWalk)
    }
  }

  /** Reads `all` only if `first` has reached the end of the walk, which happens once per walk. */
  function inTurn({ walk }: Page, first: Prepared<ListAnswer>, all: Prepared<ListAnswer>): Prepared<ListAnswer> {
    const onward = walk?.direction === 'backward' ? 'previous' : 'next'
    return (bindings, options) =>
      first(bindings, options).then((answer) => (answer.cursors?.[onward] ? answer : all(bindings, options)))
  }

  /** Attributes a value that the database refuses to the cursor, because the previous page had the same filter. */
  function refuseCursor(place: string): (error: unknown) => never {
    return (error) => {
      if (error instanceof SqlFault && dialect.explain(error)?.code === '1001') throw notACursor(place)
      return refuse(error)
    }
  }
}

function among({ field, values }: NonNullable<ReadPlan['keys']>): Filter {
  return { kind: 'in', field, visible: all, negated: false, operands: values }
}

/** The default for reads, which have a client even if none is given. */
const reader: QueryContext = {}
