/** The way of a read from its query string to the parsed answer, as a source goes it. */
import { fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import type { Collection, Model } from '../../../src/core/model/model.ts'
import { planInList } from '../../../src/core/plan/aggregate.ts'
import { decodeKey, keyEquals, keyFields } from '../../../src/core/plan/item-key.ts'
import type { Order, Page, ReadPlan, Selected } from '../../../src/core/plan/plan.ts'
import { isSortable, planList, planOne, type ReadContext } from '../../../src/core/plan/read.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { all } from '../../../src/core/query/filter.ts'
import { parseListQuery } from '../../../src/core/query/parameters.ts'
import type { DeepArguments, ReadQuery } from '../../../src/core/query/parse.ts'
import { boundText } from '../../../src/core/query/placeholder.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import type { AnsweredWalk } from '../../../src/core/sql/read/row-query.ts'
import type { Statement } from '../../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { build } from '../../support/data/build.ts'
import type { Answer } from './oracle.ts'
import { printRequest } from './print.ts'
import { type Draft, type Request, requestOf, type Tree } from './request.ts'
import type { Row } from './rows.ts'
import { collectionOf } from './shop.ts'

const administrator: Viewer = { accessTo: () => fullAccess, seesModel: true }

export function planOf(model: Model, draft: Draft, side: 0 | 1 = 0): ReadPlan {
  return planOfQuery(model, draft, queryOf(draft, side))
}

/** Of a query that the draft spells in another way. */
export function planOfQuery(model: Model, draft: Draft, query: ReadQuery): ReadPlan {
  return inTotalOrder(planList(contextOf(model, draft), query))
}

/** The item of this key, as a path spells it, instead of the list. */
export function planOfOne(model: Model, draft: Draft, key: string): ReadPlan {
  const context = contextOf(model, draft)
  const fields = keyFields(context.collection)
  const where = keyEquals(fullAccess, fields, decodeKey(fields, { kind: 'value', value: key }))
  return inTotalOrder(planOne(context, queryOf(draft, 0), where))
}

/** Rows without a key are in no order but that which is asked for: here by all that they hold, after what is asked. */
function inTotalOrder(plan: ReadPlan): ReadPlan {
  const { collection, selection } = plan
  return { ...plan, selection: selection.map(orderedWithin), page: plan.page && totally(plan.page, collection) }
}

function orderedWithin(selected: Selected): Selected {
  if (selected.kind !== 'relation') return selected
  const { relation, selection, page } = selected
  return { ...selected, selection: selection.map(orderedWithin), page: page && totally(page, relation.target) }
}

function totally(page: Page, { identity, primitives }: Collection): Page {
  if (identity.length > 0) return page
  const named = page.order.filter(({ path }) => path.length === 0).map(({ field }) => field)
  const others = primitives.filter((field) => isSortable(field) && !named.includes(field))
  const direction = page.order.at(-1)?.direction ?? 'asc'
  const nulls = direction === 'asc' ? 'last' : 'first'
  const order = others.map((field): Order => ({ path: [], field, visible: all, direction, nulls, origin: 'tie' }))
  return { ...page, order: [...page.order, ...order] }
}

export function contextOf(model: Model, { collection, limits }: Pick<Draft, 'collection' | 'limits'>): ReadContext {
  return {
    viewer: administrator,
    collection: collectionOf(model, collection),
    access: fullAccess,
    limits,
    maxRows: Number.POSITIVE_INFINITY,
    planInList,
  }
}

export function queryOf(draft: Draft, side: 0 | 1): ReadQuery {
  return draft.form === 'text' ? textQuery(draft, side) : jsonQuery(draft, side)
}

export function statementOf(model: Model, dialect: Dialect, draft: Draft, side: 0 | 1 = 0): Statement {
  return build.statement(planOf(model, draft, side), dialect)
}

export async function answerOf(driver: SqlDriver, dialect: Dialect, plan: ReadPlan): Promise<Answer> {
  const rows = await driver.query(build.statement(plan, dialect))
  const { data, total, cursors } = dialect.answerList(rows, plan.count, answeredWalk(plan))
  return { data: JSON.parse(data), ...(total !== undefined && { total }), ...(cursors && { cursors }) }
}

function answeredWalk({ page }: ReadPlan): AnsweredWalk | undefined {
  if (page?.walk === undefined) return undefined
  const { limit, offset, walk } = page
  const { direction, withCursors, start, sentCursor } = walk
  const isBehind = start !== undefined || offset > 0
  return {
    direction,
    cursorOptions: withCursors
      ? { limit, isBehind, sentCursor: sentCursor === undefined ? sentCursor : boundText(sentCursor) }
      : undefined,
  }
}

export async function answerOfOne(driver: SqlDriver, dialect: Dialect, plan: ReadPlan): Promise<Row | undefined> {
  const item = dialect.answerOne(await driver.query(build.statement(plan, dialect)))
  return item === undefined ? undefined : JSON.parse(item)
}

/** The query string of a draft, for messages too. */
export function searchOf({ request, isDotted }: Draft, side: 0 | 1 = 0): string {
  return printRequest(requestOf(request, side, 'text'), { isDotted })
}

function textQuery(draft: Draft, side: 0 | 1): ReadQuery {
  return parseListQuery(parseBrackets(searchOf(draft, side)))
}

/** Filters of a policy or of a tool's arguments come as JSON; what else there is, is printed all the same. */
function jsonQuery(draft: Draft, side: 0 | 1): ReadQuery {
  const { filter, deep, ...rest } = requestOf<Request>(draft.request, side, 'sent')
  const bare = deep === undefined ? {} : { deep: withoutFilters(deep) }
  const query = parseListQuery(parseBrackets(printRequest({ ...rest, ...bare }, draft)))
  return {
    ...query,
    filter: filter === undefined ? undefined : { form: 'json', value: filter },
    deep: withFilters(query.deep, deep ?? {}),
  }
}

function withoutFilters(deep: Tree): Tree {
  const entries = Object.entries(deep).flatMap(([name, part]) => {
    if (name === '_filter') return []
    return [[name, name.startsWith('_') ? part : withoutFilters(part as Tree)] as const]
  })
  return Object.fromEntries(entries)
}

function withFilters(deep: DeepArguments, tree: Tree): DeepArguments {
  const relations = Object.entries(tree).filter(([name]) => !name.startsWith('_')) as [string, Tree][]
  return new Map(
    relations.map(([name, part]) => {
      const known = deep.get(name)
      const own = known?.own ?? {
        filter: undefined,
        sort: [],
        limit: undefined,
        offset: 0,
        start: undefined,
        withCursors: false,
      }
      const filter = '_filter' in part ? ({ form: 'json', value: part._filter } as const) : undefined
      const deeper = withFilters(known?.deeper ?? new Map(), part)
      const entry = { own: { ...own, filter }, deeper, path: name, aggregate: known?.aggregate }
      return [name, entry] as const
    }),
  )
}
