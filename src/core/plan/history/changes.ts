/**
 * The history of one item as its caller may see it (docs/contract.md#history): by what they read of the item now, field by
 * field. What is no longer this item, since it was deleted or another one had its key, is for those who read every row
 * without a condition, and of that only fields that they read in every row.
 */
import { type Granted, visibility } from '../../access/access.ts'
import { nested } from '../../error.ts'
import { QUERY_FAILED } from '../../error-codes.ts'
import { memberTexts } from '../../json-members.ts'
import type { Collection, PrimitiveField } from '../../model/model.ts'
import { parseBrackets } from '../../query/brackets.ts'
import { cursorHead, digestOf, notACursor, readCursor, writeCursor } from '../../query/cursor.ts'
import { and, type Filter } from '../../query/filter.ts'
import { parseInteger, queryFault, refuseUnknown } from '../../query/parse.ts'
import { keyEquals, keyFields } from '../item-key.ts'
import type { ReadPlan } from '../plan.ts'

export type ChangesPlan = {
  /** The item, by the ids of the fields that its caller sees of it on a condition: null where that is not met. */
  readonly item: ReadPlan
  readonly key: readonly { readonly field: PrimitiveField; readonly text: string }[]
  /** Whether the caller reads every row. */
  readonly isWhole: boolean
  readonly seen: readonly SeenField[]
  /** Only changes before this one. */
  readonly before: string | undefined
  readonly limit: number
}

export type SeenField = { readonly field: PrimitiveField; readonly visible: Filter }

/** What was recorded; `before` and `after` are JSON texts by the ids of fields. */
export type RecordedChange = {
  readonly id: string
  readonly at: string
  readonly actor: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
}

/** A page of what was recorded, the newest first. */
export type RecordedChanges = {
  /** Null where the caller reads no such item. */
  readonly item: string | null
  /** The change with which the item of now began; undefined where that is not known any more. */
  readonly firstChange: string | undefined
  readonly changes: readonly RecordedChange[]
}

/** Throws 404 for a collection without a history. */
export function planChanges(
  { collection, access }: { readonly collection: Collection; readonly access: Granted },
  texts: readonly string[],
  { before, limit }: Pick<ChangesPlan, 'before' | 'limit'>,
): ChangesPlan {
  const { apiName, hasHistory, primitives } = collection
  if (!hasHistory) throw nested('notFound', [QUERY_FAILED, `${apiName} has no history`])
  const key = keyFields(collection)
  const [first] = key
  const seen = primitives.flatMap((field): readonly SeenField[] => {
    const visible = visibility(access, field)
    return visible === undefined ? [] : [{ field, visible }]
  })
  const conditional = seen.filter(({ visible }) => visible.kind !== 'all')
  const selection = conditional.flatMap(({ field, visible }) =>
    // A key is never null.
    first === undefined ? [] : [{ kind: 'field', name: field.id, field: first, visible } as const],
  )
  const where = and([access.rows, keyEquals(access, key, texts)])
  return {
    item: { kind: 'read', collection, selection, where, page: undefined, count: false },
    key: key.map((field, index) => ({ field, text: texts[index] ?? '' })),
    isWhole: access.rows.kind === 'all' && key.every((field) => visibility(access, field)?.kind === 'all'),
    seen,
    before,
    limit,
  }
}

/** The changes as they are shown, as JSON texts, each with its id; what nothing is shown of is left out. */
export function shownChanges(
  { item: { collection }, seen }: Pick<ChangesPlan, 'item' | 'seen'>,
  { item, firstChange, changes }: RecordedChanges,
): readonly { readonly id: string; readonly shown: string }[] {
  const primitives = collection.primitives.length
  const current = new Map(item === null ? [] : Object.entries(JSON.parse(item) as Record<string, unknown>))
  const always = seen.filter(({ visible }) => visible.kind === 'all')
  const now = seen.filter(({ field, visible }) => visible.kind === 'all' || (current.get(field.id) ?? null) !== null)
  return changes.flatMap(({ id, before: held, after: holds, ...change }) => {
    const isOfNow = item !== null && (firstChange === undefined || BigInt(id) >= BigInt(firstChange))
    const fields = isOfNow ? now : always
    const [before, after] = [shownState(held, fields), shownState(holds, fields)]
    // A change whose values were too large to record may be one of any field.
    const isForAll = held === null && holds === null && fields.length === primitives
    if (isNothing(before) && isNothing(after) && !isForAll) return []
    return [{ id, shown: `${JSON.stringify(change).slice(0, -1)},"before":${before},"after":${after}}` }]
  })
}

/** Values stay the texts that they are. */
function shownState(state: string | null, fields: readonly SeenField[]): string {
  if (state === null) return 'null'
  const values = memberTexts(state)
  const members = fields.flatMap(({ field: { id, apiName } }) =>
    values.has(id) ? [`${JSON.stringify(apiName)}:${values.get(id)}`] : [],
  )
  return `{${members.join()}}`
}

function isNothing(state: string): boolean {
  return state === 'null' || state === '{}'
}

type Place = { readonly collection: Collection; readonly key: readonly string[] }

/** What a page is asked by: `limit`, at most 100, and `after`, the cursor of the page before. Throws 422 for anything else. */
export function parseChangesQuery(sent: string, place: Place): Pick<ChangesPlan, 'before' | 'limit'> {
  const tree = parseBrackets(sent)
  refuseUnknown(tree, ['limit', 'after'])
  const { after } = tree
  const limit = parseInteger(tree.limit, 'limit', 1) ?? MOST_CHANGES
  if (limit > MOST_CHANGES) throw queryFault('limit', `must be at most ${MOST_CHANGES}`)
  if (after === undefined) return { limit, before: undefined }
  const cursor = typeof after === 'string' ? readCursor(after) : undefined
  const [id] = cursor?.values ?? []
  const isOfThis = cursor?.digest === placeDigest(place) && typeof id === 'string' && /^[1-9][0-9]{0,17}$/.test(id)
  if (!isOfThis) throw notACursor('after')
  return { limit, before: id }
}

/** The cursor of the page behind a change. */
export function changesCursor(place: Place, id: string): string {
  return writeCursor(`${cursorHead(placeDigest(place))}${JSON.stringify(id)}]`)
}

const MOST_CHANGES = 100

function placeDigest({ collection, key }: Place): string {
  return digestOf(JSON.stringify([collection.id, ...key]))
}
