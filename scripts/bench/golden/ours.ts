/** Our side of a golden case, and the figure that comes of both. */
import { fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import { viewerOf } from '../../../src/core/access/merge.ts'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import { planAggregates } from '../../../src/core/plan/aggregate.ts'
import { parseAggregateQuery } from '../../../src/core/query/aggregate-query.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { compileGroups } from '../../../src/core/sql/read/aggregate.ts'
import { binder, type Statement } from '../../../src/core/sql/statement.ts'
import { build } from '../../../test/support/data/build.ts'
import type { Measured } from '../figures.ts'
import type { GoldenCase } from './cases.ts'
import { model } from './stock.ts'

/** A difference that no caller notices, in microseconds. */
const SMALL = 20

export function ourStatement({ collection, query, policies }: GoldenCase, dialect: Dialect): Statement {
  return build.statement(build.read(model, collection, query, policies && callerUnder(policies)), dialect)
}

export async function ourAggregates({ collection: name, query }: GoldenCase, dialect: Dialect): Promise<Statement> {
  const collection = model.byName.get(name)
  if (collection === undefined) throw new Error(`there is no ${name}`)
  const limits = { default: 100, max: 10_000 }
  const viewer: Viewer = { accessTo: () => fullAccess, seesModel: true }
  const context = { viewer, collection, access: fullAccess, limits, maxRows: Number.POSITIVE_INFINITY }
  const plan = planAggregates(context, parseAggregateQuery(query))
  if (plan.grouping === undefined) throw new Error(`${query} groups nothing`)
  return binder(compileGroups(plan, plan.grouping, { dialect, syntax: await dialect.aggregates() }))(unbound)
}

function callerUnder(policies: NonNullable<GoldenCase['policies']>): Viewer {
  const contents = policies.map((collections) => parsePolicy({ collections }, model))
  return viewerOf(
    {
      kind: 'policies',
      userId: '00000000-0000-0000-0000-000000000001',
      roleIds: [],
      policies: contents,
      entitlements: new Set(),
    },
    model,
  )
}

/** The ratio of the two times, in microseconds. */
export function figureOf(
  what: string,
  [ours = Number.NaN, gold = Number.NaN]: readonly number[],
  most = 1.15,
): Measured {
  const isSmall = ours - gold <= SMALL
  return {
    what,
    bound: { kind: 'atMost', value: most, ...(isSmall && { isReached: true }) },
    value: ours / gold,
    unit: '',
    detail: `${ours.toFixed(0)} µs, golden ${gold.toFixed(0)} µs${isSmall && ours / gold > most ? `, a difference below ${SMALL} µs` : ''}`,
  }
}
