/** Resolves conditions on far rows to lists of matching keys. */
import { elementsOf, membersOf } from '../../core/json-cut.ts'
import { spellingsOfKey } from '../../core/model/far-key.ts'
import type { RelationField } from '../../core/model/model.ts'
import type { Order, ReadPlan } from '../../core/plan/plan.ts'
import { lookupColumn, lookupKeyOf, type Related } from '../../core/plan/relations.ts'
import { all, and, type Filter, isTrue, none, not } from '../../core/query/filter.ts'
import { queryFault } from '../../core/query/parse.ts'
import { heldKeys, keyText, onlyJoin, PAGE, type Run } from './run.ts'

/** Resolves each condition to a list of keys. */
export async function answers(conditions: readonly Related[], run: Run): Promise<ReadonlyMap<Related, Filter>> {
  const known = new Map<Related, Filter>()
  for (const condition of conditions) known.set(condition, await answer(condition, run))
  return known
}

async function answer({ relation, target, quantifier, rows, filter }: Related, run: Run): Promise<Filter> {
  const { own, other } = onlyJoin(relation)
  const condition = quantifier === 'every' ? not(isTrue(filter)) : filter
  const keys = await matchingKeys(relation, { kind: 'read', collection: target, where: and([rows, condition]) }, run)
  const spellings = keys.flatMap((key) => spellingsOfKey(key, other.type, own.type))
  const operands = await heldKeys({ collection: relation.collection, field: own }, spellings, run)
  const exists: Filter =
    operands.length === 0 ? none : isTrue({ kind: 'in', field: own, visible: all, negated: false, operands })
  return quantifier === 'some' ? exists : not(exists)
}

/**
 * Returns the keys of the matching far rows. Reads one page unsorted. If that page is full, reads all pages sorted by key, each
 * starting after the last key; the far source must support this.
 */
async function matchingKeys(
  relation: RelationField,
  wanted: Pick<ReadPlan, 'kind' | 'collection' | 'where'>,
  run: Run,
): Promise<readonly string[]> {
  const { other } = onlyJoin(relation)
  const source = run.open(wanted.collection.sourceId)
  const page = async (where: Filter, order: readonly Order[]) => {
    const plan = { ...wanted, where, selection: [lookupColumn(other)], page: { order, limit: PAGE, offset: 0 } }
    const { data } = await source.prepareList({ ...plan, count: false })(run.bindings, run.options)
    return elementsOf(data).map((row) => keyText(lookupKeyOf(membersOf(row))))
  }
  const first = await page(wanted.where, [])
  const found = new Set(first.filter((key) => key !== undefined))
  if (first.length < PAGE) return [...found]
  const byKey: Order = { path: [], field: other, visible: all, direction: 'asc', nulls: 'last', origin: 'requested' }
  let behind: Filter = all
  for (let pages = 0; pages < MAX_PAGES && found.size <= MAX_KEYS; pages += 1) {
    const keys = await page(and([wanted.where, behind]), [byKey])
    for (const key of keys) if (key !== undefined) found.add(key)
    const last = keys.at(-1)
    const isEnd = keys.length < PAGE || last === undefined
    if (isEnd && found.size <= MAX_KEYS) return [...found]
    if (last !== undefined) behind = { kind: 'compare', field: other, visible: all, operator: '>', operand: last }
  }
  throw queryFault(`filter.${relation.apiName}`, `matches more than ${MAX_KEYS} items of another data source`)
}

/** Maximum number of keys for a condition on far rows. */
const MAX_KEYS = 20_000

/** Maximum number of requests; keys that many rows share need several. */
const MAX_PAGES = 100
