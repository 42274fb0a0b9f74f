/**
 * `$ref` in a batch (docs/contract.md#batches): a value that an earlier operation has written or found. It is the value that
 * the caller could read after that operation; a value that the caller cannot read does not exist.
 */
import { type Granted, type Viewer, visibility } from '../../access/access.ts'
import { isObject } from '../../json-object.ts'
import { shortName } from '../../message-text.ts'
import type { Collection, PrimitiveField } from '../../model/model.ts'
import { listKnown } from '../../nearest.ts'
import { and } from '../../query/filter.ts'
import { queryFault } from '../../query/parse.ts'
import { keptFields } from '../cells.ts'
import { readableField, relatedAccess } from '../names.ts'
import type { Cell, ProgramPlan, Slot, Step } from '../plan.ts'
import { addFind, addStep, type EarlierValue, type Program } from '../program.ts'

const REFERENCE = '$ref'

/** `row` is undefined for a single item. */
type Reference = { readonly name: string; readonly row: number | undefined; readonly field: string }

/** The values of operations that others refer to, by the operations' names. */
export type EarlierValues = {
  readonly valueOf: EarlierValue
  /** True if other operations may refer to the operation of this name. */
  readonly isWanted: (name: string | undefined) => boolean
  /** Registers an operation to which no other refers. */
  readonly note: (name: string) => void
  /** Returns the plan of an operation with steps that keep the referenced values. */
  readonly keep: (kept: KeptOperation) => ProgramPlan
}

export type KeptOperation = {
  readonly name: string
  readonly program: Program
  readonly plan: ProgramPlan
  readonly collection: Collection
  /** One item, the items of a list each with its own answer step, or a list with one answer step. */
  readonly shape: 'one' | 'apart' | 'together'
}

type Earlier = KeptOperation & {
  readonly answers: readonly (Step & { readonly kind: 'answer' })[]
  /** Slots of the values that the caller can read, by row and field. */
  readonly seen: ReadonlyMap<string, Slot>
}

/** `bodies` are all that may contain references. */
export function createEarlierValues(viewer: Viewer, bodies: readonly unknown[]): EarlierValues {
  const wanted = referencesIn(bodies)
  const known = new Map<string, Earlier>()
  const names: string[] = []
  const required = new WeakMap<Program, Set<number>>()

  function requireValue(program: Program, slot: Slot): void {
    const slots = required.get(program) ?? new Set()
    required.set(program, slots)
    if (slots.has(slot.number)) return
    slots.add(slot.number)
    addStep(program, { kind: 'require', slot, assertion: 'noValue' })
  }

  return {
    isWanted: (name) => name !== undefined && wanted.has(name),

    note: (name) => void names.push(name),

    keep(kept) {
      const { name, program, plan, collection, shape } = kept
      const answers = plan.steps.filter((step) => step.kind === 'answer')
      const before = program.steps.length
      const seen = new Map<string, Slot>()
      for (const { row, field } of wanted.get(name) ?? []) {
        const slot = placeOf({ answers, shape }, row)
        const found = slot && seenField(viewer, collection, field)
        if (slot === undefined || found === undefined || found.isWhole(shape)) continue
        const matches = collection.identity.map(
          (key): Cell => ({ field: key, value: { kind: 'kept', ...slot, field: key } }),
        )
        seen.set(nameOf(row, field), addFind(program, collection, { matches, where: found.visible, lock: 'reference' }))
      }
      const own = program.steps.slice(before)
      known.set(name, { ...kept, answers, seen })
      names.push(name)
      return {
        ...plan,
        steps: afterAnswers(
          plan.steps.filter((step) => !own.includes(step)),
          own,
        ),
      }
    },

    valueOf(program, field, { value, path }) {
      if (!isObject(value) || !Object.hasOwn(value, REFERENCE) || !isReferable(field)) return undefined
      if (Object.keys(value).length > 1) throw queryFault(path, `must hold ${REFERENCE} alone`)
      const reference = parseReference(value[REFERENCE])
      if (reference === undefined) {
        throw queryFault(path, `${REFERENCE} must be such as name.field, or name[0].field for an item of a list`)
      }
      const { name, row } = reference
      const earlier = known.get(name)
      if (earlier === undefined) {
        throw queryFault(path, `${shortName(name)} is the name of no earlier operation${listKnown(name, names)}`)
      }
      const { collection, shape, seen } = earlier
      if ((shape === 'one') !== (row === undefined)) {
        throw queryFault(
          path,
          `must be ${shape === 'one' ? `${name}.field` : `${name}[0].field`}: ${name} is ${shape === 'one' ? 'one item' : 'a list'}`,
        )
      }
      const source = sourceOf(viewer, collection, { name: reference.field, path })
      requireSameType(source, field, path)
      const place = placeOf(earlier, row)
      if (place === undefined) throw queryFault(path, `${name} has fewer items`)
      const slot = seen.get(nameOf(row, source.apiName))
      if (slot !== undefined) {
        requireValue(program, slot)
        return { field, value: { kind: 'kept', slot, field: source } }
      }
      return { field, value: { kind: 'kept', ...place, field: source } }
    },
  }
}

/** True if a value of a new or changed item, nested items included, refers to another operation. */
export function usesEarlier(collection: Collection, sent: unknown): boolean {
  const items: readonly unknown[] = Array.isArray(sent) ? sent : [sent]
  return items.some((item) => {
    if (!isObject(item)) return false
    return Object.entries(item).some(([name, value]) => {
      const field = collection.fields.get(name)
      return field?.kind === 'relation' ? hasReference(value) : isObject(value) && Object.hasOwn(value, REFERENCE)
    })
  })
}

/** True if the request contains a reference at any depth. */
export function hasReference(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && referencesIn([sent]).size > 0
}

function isReferable({ type, isList, native }: PrimitiveField): boolean {
  return !isList && type.name !== 'json' && type.name !== 'geometry' && native?.members === undefined
}

/** A database value can only be used for a column of the same type. */
function requireSameType(source: PrimitiveField, target: PrimitiveField, path: string): void {
  const isSame = source.type.name === target.type.name && source.native?.name === target.native?.name
  if (isSame || (isInteger(source) && isInteger(target) && source.native === null && target.native === null)) return
  throw queryFault(path, `${source.apiName} is of type ${source.type.name}, not ${target.type.name}`)
}

function isInteger({ type }: PrimitiveField): boolean {
  return /^int\d+$/.test(type.name)
}

function sourceOf(
  viewer: Viewer,
  collection: Collection,
  { name, path }: { readonly name: string; readonly path: string },
): PrimitiveField {
  const { field } = readableField(viewer, collection, relatedAccess(viewer, collection), name, path)
  if (field.kind === 'primitive' && keptFields(collection).includes(field) && isReferable(field)) return field
  throw queryFault(path, `${shortName(name)} is neither of the key nor a field that relations join by`)
}

/** A field that may be referred to, and the rows in which the caller can see it. */
function seenField(viewer: Viewer, collection: Collection, name: string) {
  const access = viewer.accessTo(collection, 'read')
  const field = collection.fields.get(name)
  if (access.kind !== 'granted' || field?.kind !== 'primitive') return undefined
  const visible = visibility(access, field)
  if (visible === undefined) return undefined
  return {
    visible: and([visible]),
    isWhole: (shape: Earlier['shape']) => shape !== 'together' && isAllSeen(access, visible.kind),
  }
}

function isAllSeen({ rows }: Granted, visible: string): boolean {
  return rows.kind === 'all' && visible === 'all'
}

function placeOf(
  { answers, shape }: Pick<Earlier, 'answers' | 'shape'>,
  row: number | undefined,
): { readonly slot: Slot; readonly row: number; readonly or?: Slot } | undefined {
  const [place = 0, inSlot = 0] = shape === 'apart' ? [row] : [0, row]
  const { slot, or } = answers[place] ?? {}
  return slot && { slot, row: inSlot, ...(or && { or }) }
}

function nameOf(row: number | undefined, field: string): string {
  return `${row ?? ''}.${field}`
}

/** Inserts steps after the last answer step; a deleted item is kept before it is deleted. */
function afterAnswers(steps: readonly Step[], own: readonly Step[]): readonly Step[] {
  const last = steps.findLastIndex(({ kind }) => kind === 'answer')
  return [...steps.slice(0, last + 1), ...own, ...steps.slice(last + 1)]
}

const reference = /^([A-Za-z]\w{0,63})(?:\[(0|[1-9]\d{0,4})\])?\.([^.[\]]{1,128})$/

function parseReference(text: unknown): Reference | undefined {
  const [, name, row, field] = (typeof text === 'string' && reference.exec(text)) || []
  if (name === undefined || field === undefined) return undefined
  return { name, row: row === undefined ? undefined : Number(row), field }
}

/** All possible references, by operation name; values of JSON fields may look the same. */
function referencesIn(bodies: readonly unknown[]): ReadonlyMap<string, readonly Reference[]> {
  const found = new Map<string, Map<string, Reference>>()
  const waiting: unknown[] = [...bodies]
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one !== 'object' || one === null) continue
    for (const name of Object.keys(one)) {
      const value = (one as Readonly<Record<string, unknown>>)[name]
      if (typeof value === 'object') waiting.push(value)
      const parsed = name === REFERENCE ? parseReference(value) : undefined
      if (parsed === undefined) continue
      const same = found.get(parsed.name) ?? new Map()
      found.set(parsed.name, same.set(nameOf(parsed.row, parsed.field), parsed))
    }
  }
  return new Map([...found].map(([name, references]) => [name, [...references.values()]]))
}
