/**
 * The history of one item as its caller may see it (docs/contract.md#history): by the caller's current rights on the item, for
 * each field. Changes of a former item with the same key (deleted or moved) are visible only to callers who may read every row,
 * and then only fields that they may read in every row.
 */
import { type Granted, visibility } from '../../access/access.ts'
import { nested } from '../../error.ts'
import { QUERY_FAILED } from '../../error-codes.ts'
import type { Collection, PrimitiveField } from '../../model/model.ts'
import { parseBrackets } from '../../query/brackets.ts'
import { cursorHead, digestOf, notACursor, readCursor, writeCursor } from '../../query/cursor.ts'
import { and } from '../../query/filter.ts'
import { parseInteger, queryFault, refuseUnknown } from '../../query/parse.ts'
import { keyEquals, keyFields } from '../item-key.ts'
import type { ReadPlan, SelectedField } from '../plan.ts'

export type ChangesPlan = {
  /** The item, with a member for each field that the caller may see, named by the field's id and visible where readable. */
  readonly item: ReadPlan
  readonly key: readonly { readonly field: PrimitiveField; readonly text: string }[]
  /** True if the caller may read every row. */
  readonly isWhole: boolean
  /** Fields that the caller may see in some rows, and fields that are visible in every row. */
  readonly seen: readonly PrimitiveField[]
  readonly always: readonly PrimitiveField[]
  /** Only changes before the change with this mark. */
  readonly before: string | undefined
  readonly limit: number
}

/** The visible part of a recorded change; `before` and `after` are JSON texts. */
export type RecordedChange = {
  /** The id that a cursor contains. */
  readonly mark: string
  readonly at: string
  readonly actor: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
}

/** A page of visible changes, newest first. */
export type RecordedChanges = {
  /** True if the caller can read the item now. */
  readonly isThere: boolean
  /** True if no visible change follows. */
  readonly isLast: boolean
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
  const selection = primitives.flatMap((field): readonly SelectedField[] => {
    const visible = visibility(access, field)
    return visible === undefined ? [] : [{ kind: 'field', name: field.id, field, visible }]
  })
  const where = and([access.rows, keyEquals(access, key, texts)])
  return {
    item: { kind: 'read', collection, selection, where, page: undefined, count: false },
    key: key.map((field, index) => ({ field, text: texts[index] ?? '' })),
    isWhole: access.rows.kind === 'all' && key.every((field) => visibility(access, field)?.kind === 'all'),
    seen: selection.map(({ field }) => field),
    always: selection.filter(({ visible }) => visible.kind === 'all').map(({ field }) => field),
    before,
    limit,
  }
}

/** A change as JSON; `before` and `after` are inserted as they are. */
export function changeText({ mark: _, before, after, ...change }: RecordedChange): string {
  return `${JSON.stringify(change).slice(0, -1)},"before":${before},"after":${after}}`
}

type Place = { readonly collection: Collection; readonly key: readonly string[] }

/** Parses the query of a page: `limit`, at most 100, and `after`, the previous page's cursor. Throws 422 otherwise. */
export function parseChangesQuery(sent: string, place: Place): Pick<ChangesPlan, 'before' | 'limit'> {
  const tree = parseBrackets(sent)
  refuseUnknown(tree, ['limit', 'after'])
  const { after } = tree
  const limit = parseInteger(tree.limit, 'limit', 1) ?? MOST_CHANGES
  if (limit > MOST_CHANGES) throw queryFault('limit', `must be at most ${MOST_CHANGES}`)
  if (after === undefined) return { limit, before: undefined }
  const cursor = typeof after === 'string' ? readCursor(after) : undefined
  const [mark] = cursor?.values ?? []
  const isOfThis = cursor?.digest === placeDigest(place) && typeof mark === 'string' && UUID.test(mark)
  if (!isOfThis) throw notACursor('after')
  return { limit, before: mark }
}

/** The cursor of the page after a change: a mark, because a number would reveal how many other changes there are. */
export function changesCursor(place: Place, mark: string): string {
  return writeCursor(`${cursorHead(placeDigest(place))}${JSON.stringify(mark)}]`)
}

const MOST_CHANGES = 100
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function placeDigest({ collection, key }: Place): string {
  return digestOf(JSON.stringify([collection.id, ...key]))
}
