/**
 * Relations into another data source, and relations of a source that cannot follow any. Far rows are looked up by key
 * in batches, never one per row, with the access to the far collection that the plan carries. Conditions on far rows
 * become lists of keys beforehand, and are refused if there are too many (docs/decisions/023).
 */
import { ServiceError } from '../core/error.ts'
import { parseExactJson, plainNumber } from '../core/exact-json.ts'
import { comparableKey, spellingsOfKey } from '../core/model/far-key.ts'
import type { Model, RelationField, SourceRecord } from '../core/model/model.ts'
import type { Order, Plan, ReadPlan, WritePlan } from '../core/plan/plan.ts'
import {
  crossSourceConditions,
  type IsLocal,
  isLookupColumn,
  lookupColumn,
  lookupKeyOf,
  type Related,
  type SelectedRelation,
  type SelectionPart,
  type SplitSelection,
  splitSelection,
  withConditions,
  withSelection,
} from '../core/plan/relations.ts'
import { all, and, type Filter, isTrue, none, not } from '../core/query/filter.ts'
import { queryFault } from '../core/query/parse.ts'
import type { Bindings } from '../core/query/placeholder.ts'
import { type AnswerRoom, answerRoom } from './answer-room.ts'
import type { ReadOptions, Source } from './source.ts'

type Open = (sourceId: string) => Source
type Item = Record<string, unknown>

/** The context of one request. */
type Run = {
  readonly open: Open
  readonly bindings: Bindings
  readonly options: ReadOptions | undefined
  readonly room: AnswerRoom
}

/** Maximum keys of one look-up. */
const BATCH = 200
/** Maximum rows of one look-up; some search engines return no more of a list. */
const PAGE = 1_000
/** Maximum rows of all look-ups of a relation. */
const MAX_ROWS = 10_000
/** Maximum keys that a condition on far rows may yield. */
const MAX_KEYS = 20_000
/** Maximum requests for them: keys that many rows share come a few at a time. */
const MAX_PAGES = 100

/** Wraps `source` so that it runs plans with any relations. `open` returns the wrapped source of another collection. */
function acrossSources(source: Source, isLocal: IsLocal, open: Open): Source {
  /** Returns the plan that the source runs, with far conditions resolved, and the missing parts of its rows. */
  async function local<P extends Plan>(
    plan: P,
    run: Run,
  ): Promise<{ readonly plan: P; readonly split: SplitSelection }> {
    const answered = withConditions(plan, await answers(crossSourceConditions(plan, isLocal), run))
    const split = splitSelection(answered.selection, isLocal)
    return { plan: withSelection(answered, split.local), split }
  }

  const isPlain = (plan: Plan) =>
    splitSelection(plan.selection, isLocal).isWhole && crossSourceConditions(plan, isLocal).length === 0

  const completed = async (text: string, split: SplitSelection, run: Run) =>
    split.isWhole ? text : JSON.stringify(await complete(parseExactJson(text) as Item[], split, run))

  return {
    prepareLong: (plan) => (isPlain(plan) ? source.prepareLong?.(plan) : undefined),

    prepareList(plan) {
      if (isPlain(plan)) return source.prepareList(plan)
      return async (bindings, options) => {
        const run = { open, bindings, options, room: answerRoom() }
        const own = await local(plan, run)
        const { data, total } = await source.prepareList(own.plan)(bindings, options)
        return { data: await completed(data, own.split, run), total }
      }
    },

    prepareOne(plan) {
      if (isPlain(plan)) return source.prepareOne(plan)
      return async (bindings, options) => {
        const run = { open, bindings, options, room: answerRoom() }
        const own = await local(plan, run)
        const text = await source.prepareOne(own.plan)(bindings, options)
        return text === undefined ? undefined : (await completed(`[${text}]`, own.split, run)).slice(1, -1)
      }
    },

    prepareLookup(plan, keys) {
      if (isPlain(plan)) return source.prepareLookup(plan, keys)
      return async (bindings, options) => {
        const run = { open, bindings, options, room: answerRoom() }
        const own = await local(plan, run)
        return completed(await source.prepareLookup(own.plan, keys)(bindings, options), own.split, run)
      }
    },

    prepareWrite(plan) {
      refuseWritesElsewhere(plan)
      if (isPlain(plan)) return source.prepareWrite(plan)
      requireFollowable(splitSelection(plan.selection, isLocal))
      return async (bindings, options) => {
        const run = { open, bindings, options, room: answerRoom() }
        const { plan: own, split } = await local(plan, run)
        const text = await source.prepareWrite(own)(bindings, options)
        // It is written, so no error may say otherwise: the answer is what is there.
        return completed(text, split, run).catch((cause: unknown) => {
          if (cause instanceof ServiceError) return completed(text, withoutFar(split), run)
          throw cause
        })
      }
    },
  }
}

/** Whether a source follows a relation itself: both ends are in one database that supports relations. */
function localTo(sourceId: string, followsRelations: boolean): IsLocal {
  return ({ target }) => followsRelations && target.sourceId === sourceId
}

/** A transaction cannot span two sources. */
function refuseWritesElsewhere(plan: WritePlan): void {
  if (plan.kind !== 'program') return
  const sources = new Set(
    plan.steps.flatMap((step) => {
      if (step.kind === 'find' || step.kind === 'insert') return [step.into.collection.sourceId]
      return [step.slot.collection.sourceId]
    }),
  )
  if (sources.size > 1) {
    throw queryFault('body', 'cannot write items of several data sources: give the key of the other item instead')
  }
}

/** What can be refused before a write is not found out after it. */
function requireFollowable({ parts }: SplitSelection): void {
  for (const part of parts) {
    if (part.kind === 'elsewhere') onlyJoin(part.selected.relation)
    if (part.kind === 'within') requireFollowable(part.split)
  }
}

/** Leaves out the rows of other sources. */
function withoutFar(split: SplitSelection): SplitSelection {
  const parts = split.parts
    .filter(({ kind }) => kind !== 'elsewhere')
    .map((part) => (part.kind === 'within' ? { ...part, split: withoutFar(part.split) } : part))
  return { ...split, parts }
}

/** Adds the missing parts to rows of a split selection, in the requested order. */
async function complete(rows: readonly Item[], split: SplitSelection, run: Run): Promise<readonly Item[]> {
  const found = new Map<SelectionPart, readonly unknown[]>()
  for (const part of split.parts) {
    if (part.kind === 'elsewhere') found.set(part, await lookUp(rows, part, run))
    if (part.kind === 'within') found.set(part, await within(rows, part, run))
  }
  return rows.map((row, index) =>
    Object.fromEntries(
      split.parts.map((part) =>
        part.kind === 'own'
          ? [part.name, row[part.name]]
          : [part.kind === 'within' ? part.name : part.selected.name, found.get(part)?.[index]],
      ),
    ),
  )
}

/** Completes the rows of a local relation together, so that their look-ups are batched too. */
async function within(
  rows: readonly Item[],
  { name, isList, split }: Extract<SelectionPart, { readonly kind: 'within' }>,
  run: Run,
): Promise<readonly unknown[]> {
  const inner = rows.map((row): readonly Item[] => {
    const value = row[name] as { readonly data: readonly Item[] } | Item | null
    if (value === null) return []
    return isList ? (value as { readonly data: readonly Item[] }).data : [value as Item]
  })
  const completed = await complete(inner.flat(), split, run)
  let start = 0
  return inner.map((items, index) => {
    const own = completed.slice(start, start + items.length)
    start += items.length
    if (rows[index]?.[name] === null) return null
    return isList ? { data: own } : own[0]
  })
}

/** Returns the far rows of each row. */
async function lookUp(
  rows: readonly Item[],
  { selected, columns }: Extract<SelectionPart, { readonly kind: 'elsewhere' }>,
  run: Run,
): Promise<readonly unknown[]> {
  const [column = ''] = columns
  const { page, visible, relation } = selected
  const { own, other } = onlyJoin(relation)
  const nameOf = (key: string | undefined) => key && comparableKey(key, own.type, other.type)
  const keys = rows.map((row) => nameOf(keyText(row[column])))
  const wanted = [...new Set(keys)].flatMap((key) =>
    key === undefined ? [] : spellingsOfKey(key, own.type, other.type),
  )
  const byKey = Map.groupBy(await farRows(selected, wanted, run), (row) => nameOf(keyText(lookupKeyOf(row))))
  return keys.map((key) => {
    // A relation hidden in a row is null, as it is when a database follows it.
    if (key === undefined && (page === undefined || visible.kind !== 'all')) return null
    const own = key === undefined ? [] : (byKey.get(key) ?? [])
    const shown = page === undefined ? own.slice(0, 1) : own.slice(page.offset, page.offset + page.limit)
    for (const row of shown) run.room.add(row)
    const data = shown.map(withoutHidden)
    return page === undefined ? (data[0] ?? null) : { data }
  })
}

/** Returns all far rows with one of the keys. */
async function farRows(selected: SelectedRelation, keys: readonly string[], run: Run): Promise<readonly Item[]> {
  const found: Item[] = []
  for (let start = 0; start < keys.length; start += BATCH) {
    found.push(...(await batchOf(selected, keys.slice(start, start + BATCH), run)))
    if (found.length > MAX_ROWS) {
      throw queryFault(`fields.${selected.name}`, `returns more than ${MAX_ROWS} items of another data source`)
    }
  }
  return found
}

/** Splits the keys in half and retries if the page is full, since there may be more rows. */
async function batchOf(selected: SelectedRelation, values: readonly string[], run: Run): Promise<readonly Item[]> {
  const { relation, selection, where, page } = selected
  const { other } = onlyJoin(relation)
  const isOneEach = page === undefined && isUnique(relation)
  // For a single key, the requested page is enough.
  const enough = page === undefined ? 1 : page.offset + page.limit
  const limit = isOneEach ? values.length : values.length === 1 ? enough : PAGE
  const plan: ReadPlan = {
    kind: 'read',
    collection: relation.target,
    selection: [...selection, lookupColumn(other)],
    where,
    page: { order: page?.order ?? [], limit, offset: 0 },
    count: false,
  }
  const source = run.open(relation.target.sourceId)
  const text = await source.prepareLookup(plan, { field: other, values })(run.bindings, run.options)
  run.room.gather(text)
  const found = parseExactJson(text) as readonly Item[]
  if (isOneEach || values.length === 1 || found.length < PAGE) return found
  const middle = Math.ceil(values.length / 2)
  const first = await batchOf(selected, values.slice(0, middle), run)
  return [...first, ...(await batchOf(selected, values.slice(middle), run))]
}

/** Whether each key has at most one far row. */
function isUnique({ target, joins }: RelationField): boolean {
  const other = joins.map((join) => join.other.id)
  return target.indexes.some(
    ({ kind, fields }) => kind !== 'normal' && fields.every(({ id }) => other.includes(id)) && fields.length > 0,
  )
}

function onlyJoin(relation: RelationField): RelationField['joins'][number] {
  const [join] = relation.joins
  if (join !== undefined && relation.joins.length === 1) return join
  throw queryFault(
    `fields.${relation.apiName}`,
    'has a key of several fields, which cannot be followed into another source',
  )
}

/** Converts a key value to text, to compare the two sides. */
function keyText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(plainNumber(value))
}

function withoutHidden(row: Item): Item {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !isLookupColumn(name)))
}

/** Resolves each condition to a list of keys. */
async function answers(conditions: readonly Related[], run: Run): Promise<ReadonlyMap<Related, Filter>> {
  const known = new Map<Related, Filter>()
  for (const condition of conditions) known.set(condition, await answer(condition, run))
  return known
}

async function answer({ relation, target, quantifier, rows, filter }: Related, run: Run): Promise<Filter> {
  const { own, other } = onlyJoin(relation)
  const condition = quantifier === 'every' ? not(isTrue(filter)) : filter
  const keys = await matchingKeys(relation, { kind: 'read', collection: target, where: and([rows, condition]) }, run)
  const operands = keys.flatMap((key) => spellingsOfKey(key, other.type, own.type))
  const exists: Filter =
    operands.length === 0 ? none : isTrue({ kind: 'in', field: own, visible: all, negated: false, operands })
  return quantifier === 'some' ? exists : not(exists)
}

/**
 * Returns the keys of the far rows that match. One page is read as it comes; where it is full, all are read in the
 * order of their keys, each page beginning behind the last key, which the far source has to be able to.
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
    return (JSON.parse(data) as readonly Item[]).map((row) => keyText(lookupKeyOf(row)))
  }
  const first = await page(wanted.where, [])
  const found = new Set(first.filter((key) => key !== undefined))
  if (first.length < PAGE) return [...found]
  const byKey: Order = { field: other, visible: all, direction: 'asc', nulls: 'last', origin: 'asked' }
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

/** Returns sources by id, each able to follow every relation of the model. */
export function withCrossSourceRelations(
  model: Model,
  openSource: (record: SourceRecord) => { readonly source: Source; readonly followsRelations: boolean },
): Open {
  const known = new Map<string, Source>()
  const open: Open = (sourceId) => {
    const earlier = known.get(sourceId)
    if (earlier !== undefined) return earlier
    const record = model.sources.get(sourceId)
    if (record === undefined) throw new Error(`the model refers to the source ${sourceId}, which it does not have`)
    const { source, followsRelations } = openSource(record)
    const made = acrossSources(source, localTo(sourceId, followsRelations), open)
    known.set(sourceId, made)
    return made
  }
  return open
}
