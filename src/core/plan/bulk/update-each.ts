/**
 * Plans a change of many items with individual values (docs/contract.md#bulk-writes). Rows are found and locked in the order of
 * their keys, so that two such writes wait for each other instead of deadlocking; they are changed and answered in the order
 * sent.
 */
import { knowsField, visibility } from '../../access/access.ts'
import type { Parts } from '../../parts.ts'
import { and, type Filter, none } from '../../query/filter.ts'
import { queryFault } from '../../query/parse.ts'
import { keyEquals, keyFields } from '../item-key.ts'
import { writeAccess } from '../names.ts'
import { addUpdate } from '../nested-write.ts'
import type { Cell, ProgramPlan, Slot } from '../plan.ts'
import { addFind, type Program } from '../program.ts'
import type { LocatedBody } from '../relation-operation.ts'
import { memberPath, parseBody, valueFor } from '../values.ts'
import { answered, programOf, requireFew, type WriteRequest } from '../write.ts'

type Named = {
  readonly index: number
  /** The key as sent. */
  readonly name: string
  readonly matches: readonly Cell[]
  readonly where: Filter
  /** The item without its key. */
  readonly change: LocatedBody
}

/** `most` is the maximum number of changed items. */
export function* planUpdateEach(request: WriteRequest, body: readonly unknown[], most: number): Parts<ProgramPlan> {
  const { viewer, collection } = request
  writeAccess(viewer, collection, 'update')
  requireFew(body, most, request.part?.path ?? '')
  const { filter, max } = request.query()
  if (filter !== undefined) throw queryFault('filter', NAMED)
  if (max !== undefined) throw queryFault('max', NAMED)
  const selection = answered(request, body.length)
  const program = programOf(request)
  const found: { readonly item: Named; readonly slot: Slot }[] = []
  for (const item of namedItems(request, program, body).toSorted(byName)) {
    yield
    const { matches, where, index } = item
    found.push({ item, slot: addFind(program, collection, { matches, where, assertion: 'noRecord', index }) })
  }
  found.sort(({ item: one }, { item: other }) => one.index - other.index)
  for (const { item, slot } of found) yield* addUpdate(program, item.change, { slot, depth: 0, isOne: true })
  const answers = found.map(({ slot }) => ({ kind: 'answer', slot }) as const)
  return { kind: 'program', steps: [...program.steps, ...answers], selection }
}

const NAMED = 'must not stand beside a list of items: they name themselves'

function namedItems(
  { collection, read, part }: WriteRequest,
  program: Program,
  items: readonly unknown[],
): readonly Named[] {
  const place = part?.path ?? ''
  const fields = keyFields(collection)
  if (!fields.every((field) => knowsField(program.viewer, collection, field))) {
    throw queryFault(place, `${collection.apiName} has no key that this caller can name`)
  }
  const known = new Map<string, number>()
  return items.map((item, index) => {
    const path = `${place}[${index}]`
    const change: Record<string, unknown> = { ...parseBody(item, path) }
    const matches: Cell[] = []
    const key = fields.map((field) => {
      const at = memberPath(path, field.apiName)
      if (!Object.hasOwn(change, field.apiName)) throw queryFault(at, 'is required: it names the item')
      const value = change[field.apiName]
      delete change[field.apiName]
      const cell = program.earlier?.(program, field, { value, path: at })
      if (cell !== undefined) {
        matches.push(cell)
        return { name: value, where: visibility(read.access, field) ?? none }
      }
      const text = valueFor(field, value, at)
      if (text === null) throw queryFault(at, 'must not be null: it names the item')
      return { name: text, where: keyEquals(read.access, [field], [text]) }
    })
    const name = JSON.stringify(key.map((one) => one.name))
    const other = known.get(name)
    if (other !== undefined) throw queryFault(path, `has the key of ${place}[${other}]`)
    known.set(name, index)
    return { index, name, matches, where: and(key.map(({ where }) => where)), change: { body: change, path } }
  })
}

function byName({ name: one }: Named, { name: other }: Named): number {
  return one < other ? -1 : one > other ? 1 : 0
}
