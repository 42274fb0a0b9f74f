/** Looks up far rows by key, in batches, and inserts them into the rows that refer to them, in the requested order. */
import { elementsOf, type ItemText, itemText, listText, membersOf } from '../../core/json-cut.ts'
import { comparableKey, spellingsOfKey } from '../../core/model/far-key.ts'
import type { RelationField } from '../../core/model/model.ts'
import type { ReadPlan, SelectedRelation } from '../../core/plan/plan.ts'
import {
  isLookupColumn,
  lookupColumn,
  lookupKeyOf,
  type SelectionPart,
  type SplitSelection,
} from '../../core/plan/relations.ts'
import { queryFault } from '../../core/query/parse.ts'
import { heldKeys, keyText, onlyJoin, PAGE, type Run } from './run.ts'

/** The text of one part for each row; undefined if the row lacks the part. */
type PartTexts = readonly (string | undefined)[]

/** Adds the missing parts to rows of a split selection. Returns their JSON, the members in the requested order. */
export async function complete(rows: readonly ItemText[], split: SplitSelection, run: Run): Promise<readonly string[]> {
  const found = new Map<SelectionPart, PartTexts>()
  for (const part of split.parts) {
    if (part.kind === 'elsewhere') found.set(part, await lookUp(rows, part, run))
    if (part.kind === 'within') found.set(part, await within(rows, part, run))
  }
  return rows.map((row, index) =>
    itemText(
      split.parts.map((part) =>
        part.kind === 'own'
          ? [part.name, row.get(part.name)]
          : [part.kind === 'within' ? part.name : part.selected.name, found.get(part)?.[index]],
      ),
    ),
  )
}

/** Completes the rows of a local relation together, so that their look-ups are batched too. */
async function within(
  rows: readonly ItemText[],
  { name, isList, split }: Extract<SelectionPart, { readonly kind: 'within' }>,
  run: Run,
): Promise<PartTexts> {
  const values = rows.map((row) => {
    const text = row.get(name)
    return text === undefined || text === 'null' ? undefined : membersOf(text)
  })
  const inner = values.map((value): readonly ItemText[] => {
    if (value === undefined) return []
    return isList ? elementsOf(value.get('data') ?? '[]').map(membersOf) : [value]
  })
  const completed = await complete(inner.flat(), split, run)
  let start = 0
  return values.map((value, index) => {
    const own = completed.slice(start, start + (inner[index]?.length ?? 0))
    start += own.length
    if (value === undefined) return 'null'
    return isList ? itemText(new Map(value).set('data', listText(own))) : own[0]
  })
}

/** Returns the far rows of each row. */
async function lookUp(
  rows: readonly ItemText[],
  { selected, columns }: Extract<SelectionPart, { readonly kind: 'elsewhere' }>,
  run: Run,
): Promise<PartTexts> {
  const [column = ''] = columns
  const { page, visible, relation } = selected
  const { own, other } = onlyJoin(relation)
  const nameOf = (key: string | undefined) => key && comparableKey(key, own.type, other.type)
  const keys = rows.map((row) => nameOf(keyText(row.get(column))))
  const spellings = [...new Set(keys)].flatMap((key) =>
    key === undefined ? [] : spellingsOfKey(key, own.type, other.type),
  )
  const wanted = await heldKeys({ collection: relation.target, field: other }, spellings, run)
  const byKey = Map.groupBy(await farRows(selected, wanted, run), ({ key }) => nameOf(key))
  return keys.map((key) => {
    // A relation hidden in a row is null, as it is when a database follows it.
    if (key === undefined && (page === undefined || visible.kind !== 'all')) return 'null'
    const own = key === undefined ? [] : (byKey.get(key) ?? [])
    const shown = page === undefined ? own.slice(0, 1) : own.slice(page.offset, page.offset + page.limit)
    const data = shown.map(({ text }) => text)
    for (const text of data) run.room.add(text)
    return page === undefined ? (data[0] ?? 'null') : itemText([['data', listText(data)]])
  })
}

/** A far row without its join columns, and its join key. */
type FarRow = { readonly key: string | undefined; readonly text: string }

/** Returns all far rows with one of the keys. */
async function farRows(selected: SelectedRelation, keys: readonly string[], run: Run): Promise<readonly FarRow[]> {
  const found: FarRow[] = []
  for (let start = 0; start < keys.length; start += BATCH) {
    found.push(...(await batchOf(selected, keys.slice(start, start + BATCH), run)))
    if (found.length > MAX_ROWS) {
      throw queryFault(`fields.${selected.name}`, `returns more than ${MAX_ROWS} items of another data source`)
    }
  }
  return found
}

/** Maximum rows of all look-ups of a relation. */
const MAX_ROWS = 10_000

/** Maximum keys of one look-up. */
const BATCH = 200

/** Splits the keys in half and retries if the page is full, since there may be more rows. */
async function batchOf(selected: SelectedRelation, values: readonly string[], run: Run): Promise<readonly FarRow[]> {
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
    keys: { field: other, values },
    page: { order: page?.order ?? [], limit, offset: 0 },
    count: false,
  }
  const source = run.open(relation.target.sourceId)
  const { data: text } = await source.prepareList(plan)(run.bindings, run.options)
  run.room.gather(text)
  const found = elementsOf(text).map(farRow)
  if (isOneEach || values.length === 1 || found.length < PAGE) return found
  const middle = Math.ceil(values.length / 2)
  const first = await batchOf(selected, values.slice(0, middle), run)
  return [...first, ...(await batchOf(selected, values.slice(middle), run))]
}

/** True if each key has at most one far row. */
function isUnique({ target, joins }: RelationField): boolean {
  const other = joins.map((join) => join.other.id)
  return target.indexes.some(
    ({ kind, fields }) => kind !== 'normal' && fields.every(({ id }) => other.includes(id)) && fields.length > 0,
  )
}

function farRow(text: string): FarRow {
  const members = membersOf(text)
  return {
    key: keyText(lookupKeyOf(members)),
    text: itemText([...members].filter(([name]) => !isLookupColumn(name))),
  }
}
