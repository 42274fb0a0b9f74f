/**
 * The list of steps of a nested write (docs/contract.md#nested-writes), and functions that add to it for one collection: steps,
 * checks under the collection's access, finds and deletions. Slots keep found and created rows, so that one list of statements
 * is the whole transaction.
 */
import { type Action, type Viewer, validRows, writableRows } from '../access/access.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { and, type Filter, withoutTests } from '../query/filter.ts'
import { queryFault } from '../query/parse.ts'
import { membersOf } from './cells.ts'
import { lacksKey, writeAccess } from './names.ts'
import type { Alteration, Assertion, Cell, Cut, Order, Slot, Step } from './plan.ts'
import { MAX_CHANGES } from './relation-operation.ts'
import type { Generators, WriteContext } from './values.ts'

/** Steps are added in the order in which they run. */
export type Program = {
  readonly viewer: Viewer
  readonly generators: Generators
  readonly steps: Step[]
  readonly slot: (collection: Collection) => Slot
  /** References of new items that already have a step. */
  readonly referred: Set<string>
  /**
   * The conditions of new items, by collection and written fields, so that items with the same conditions can share
   * statements.
   */
  readonly conditions: Map<string, Conditions>
  readonly earlier: EarlierValue | undefined
  /** Slots with subsets of a slot's rows, which follow a change of their keys. */
  readonly parts: Map<Slot, Slot[]>
}

/**
 * The cell of a value that refers to an earlier operation of the batch, which the program then requires; undefined for any
 * other value, and absent outside of a batch.
 */
export type EarlierValue = (program: Program, field: PrimitiveField, sent: SentValue) => Cell | undefined

export type SentValue = { readonly value: unknown; readonly path: string }

type Conditions = {
  readonly action: Action
  readonly forbidden?: Filter
  /** Like `forbidden`, for the rows after a change. */
  readonly left?: Filter
  readonly invalid?: Filter
}

export function createProgram(viewer: Viewer, generators: Generators): Program {
  let count = 0
  const slot = (collection: Collection) => ({ number: count++, collection })
  return {
    viewer,
    generators,
    steps: [],
    slot,
    referred: new Set(),
    conditions: new Map(),
    earlier: undefined,
    parts: new Map(),
  }
}

/** Finds rows that the caller can read. */
export function addFind(
  program: Program,
  collection: Collection,
  which: {
    readonly matches?: readonly Cell[]
    readonly where: Filter
    readonly order?: readonly Order[]
    readonly cut?: Cut
    readonly assertion?: Assertion
    readonly provided?: Slot | undefined
    readonly absent?: Slot | undefined
    readonly lock?: 'reference'
    readonly count?: number
    readonly most?: number | undefined
    readonly index?: number
  },
): Slot {
  requireKey(collection, '')
  const into = program.slot(collection)
  const { matches = [], where, order = [], cut, assertion, provided, absent } = which
  const { lock = 'change', count = 1, most, index } = which
  const visible = and([readableRows(program.viewer, collection), where])
  addStep(program, {
    kind: 'find',
    into,
    matches,
    where: visible,
    order,
    cut,
    assertion,
    count,
    most,
    index,
    provided,
    absent,
    lock,
  })
  return into
}

function readableRows(viewer: Viewer, collection: Collection): Filter {
  const access = viewer.accessTo(collection, 'read')
  return access.kind === 'granted' ? access.rows : { kind: 'none' }
}

/** Deletes the rows of a slot. */
export function addDelete(program: Program, slot: Slot): void {
  const { access } = contextOf(program, slot.collection, 'delete')
  addChecks(program, slot, { action: 'delete', forbidden: writableRows(access, []) })
  addStep(program, { kind: 'delete', slot })
}

export function contextOf(
  { viewer, generators }: Program,
  collection: Collection,
  action: Exclude<Action, 'read'>,
): WriteContext {
  return { viewer, generators, collection, action, access: writeAccess(viewer, collection, action) }
}

export function conditionsOf(
  { conditions }: Program,
  { collection, action, access }: WriteContext,
  given: readonly string[],
): Conditions {
  const name = JSON.stringify([collection.id, ...given])
  const known = conditions.get(name)
  if (known !== undefined) return known
  const made = { action, forbidden: writableRows(access, given), invalid: validRows(access, given) }
  conditions.set(name, made)
  return made
}

/** Adds checks of the rows in the slot, without the parts that depend on `later` relations, whose rows are not written yet. */
export function addChecks(
  program: Program,
  slot: Slot,
  conditions: Conditions,
  later: readonly RelationField[] = [],
): void {
  const { action } = conditions
  const open = new Set<PrimitiveField | RelationField>(later.flatMap(membersOfLinks))
  const isAbout = (one: Filter) =>
    one.kind === 'related' ? open.has(one.relation) : 'field' in one && open.has(one.field)
  for (const assertion of ['forbidden', 'left', 'invalid'] as const) {
    const whole = conditions[assertion]
    const where = whole && (open.size === 0 ? whole : withoutTests(whole, isAbout, 'met'))
    if (where !== undefined && where.kind !== 'all') addStep(program, { kind: 'check', slot, where, assertion, action })
  }
}

/** What a filter may test of the links that a write creates: a filter tests a junction by the junction's own relations. */
function membersOfLinks(relation: RelationField): readonly (PrimitiveField | RelationField)[] {
  const { through } = relation
  return through === undefined ? membersOf(relation) : [through.near, through.far].flatMap(membersOf)
}

/** Returns a slot with the rows of another slot that currently meet `where`. */
export function addPart(program: Program, of: Slot, where: Filter): Slot {
  const into = program.slot(of.collection)
  program.parts.set(of, [...(program.parts.get(of) ?? []), into])
  addStep(program, { kind: 'part', slot: of, into, where })
  return into
}

/** Adds an update of the rows of a slot, which its parts follow. */
export function addChange(
  program: Program,
  {
    slot,
    cells,
    alterations = [],
  }: { readonly slot: Slot; readonly cells: readonly Cell[]; readonly alterations?: readonly Alteration[] },
): void {
  addStep(program, { kind: 'update', slot, cells, alterations, parts: program.parts.get(slot) ?? [] })
}

export function addStep(program: Program, step: Step): void {
  if (program.steps.push(step) > MAX_CHANGES) throw queryFault('body', `asks for more than ${MAX_CHANGES} changes`)
}

export function requireKey(collection: Collection, path: string): void {
  if (collection.identity.length > 0) return
  throw queryFault(path, `${lacksKey(collection)}, so relations cannot be written`)
}
