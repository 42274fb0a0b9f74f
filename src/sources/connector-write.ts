/**
 * Writes through a connector. There are no transactions, so a request becomes exactly one write of one collection, and
 * every check runs before it: rows are read first, checked in their current and their new state, and only then written.
 * A request that needs more than one write is refused (422).
 */

import { bindFilter, bindText, keyFilter, keyFromFilter, keyValues } from '../core/connector/by-key.ts'
import type { ConnectorFilter, Key, QueryRequest } from '../core/connector/protocol.ts'
import { type DeclaredCollection, pushFilter, requireOperation, unsupported } from '../core/connector/push-down.ts'
import { ServiceError } from '../core/error.ts'
import type { Collection, PrimitiveField } from '../core/model/model.ts'
import { wireValue } from '../core/model/wire.ts'
import type { Assignment, Cell, ProgramPlan, Selection, Slot, Step, WritePlan } from '../core/plan/plan.ts'
import { projectedFields } from '../core/plan/project-row.ts'
import { evaluate, type Row } from '../core/query/evaluate.ts'
import { all, and, type Filter } from '../core/query/filter.ts'
import { queryFault } from '../core/query/parse.ts'
import type { Bindings, Operand } from '../core/query/placeholder.ts'
import { compareTexts } from '../core/query/text-order.ts'
import { requireTerm } from '../core/sql/begin/plan-term.ts'
import { assertionError, disagreement } from './assertion-error.ts'
import {
  address,
  bindSelection,
  type ConnectorReads,
  type ConnectorSourceDeps,
  distinct,
  rowOf,
} from './connector-read.ts'
import type { RenderRows } from './rendered-rows.ts'
import type { Prepared, ReadOptions } from './source.ts'

/** Values by the connector's own field names. */
type Data = Readonly<Record<string, unknown>>

export type ConnectorWritesDeps = ConnectorSourceDeps & {
  readonly reads: ConnectorReads
  readonly render: RenderRows
}

/** The key goes with a write where its collection declares that it knows keys. */
type Sending = ConnectorSourceDeps & Pick<ReadOptions, 'idempotencyKey' | 'onSend' | 'term'>

/** Prepares write plans; running one returns the written items as JSON array text. */
export type ConnectorWrites = (plan: WritePlan) => Prepared<string>

export function createConnectorWrites(deps: ConnectorWritesDeps): ConnectorWrites {
  const { reads, render } = deps
  return (plan) =>
    async (bindings, { idempotencyKey, onSend, term } = {}) => {
      const sending = {
        ...deps,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(onSend && { onSend }),
        term,
      }
      const selection = bindSelection(plan.selection, bindings)
      switch (plan.kind) {
        case 'create': {
          const rows = plan.rows.map((row) => dataOf(row, bindings))
          if (rows.length === 0) return '[]'
          return render(selection, await send(sending, plan.collection, selection, { kind: 'create', rows }))
        }
        case 'update': {
          const where = bindFilter(plan.where, bindings)
          const data = dataOf(plan.assignments, bindings)
          if (plan.assignments.length === 0) {
            const rows = await reads.byKey({ collection: plan.collection, where, selection })
            return render(selection, rows)
          }
          const target = await targetOf(reads, plan.collection, where)
          if (target === undefined) return '[]'
          return render(selection, await send(sending, plan.collection, selection, { kind: 'update', target, data }))
        }
        case 'delete': {
          const target = await targetOf(reads, plan.collection, bindFilter(plan.where, bindings))
          if (target === undefined) return '[]'
          return render(selection, await send(sending, plan.collection, selection, { kind: 'delete', target }))
        }
        case 'program':
          return render(selection, await runProgram({ sending, plan, bindings, selection }))
      }
    }
}

/** The items of a write: one by its key, or all that match a filter. */
type Target =
  | { readonly kind: 'key'; readonly key: Key; readonly unchanged?: Data | undefined }
  | { readonly kind: 'filter'; readonly filter: Filter }
  /** Previously read rows, by their keys. */
  | { readonly kind: 'found'; readonly filter: ConnectorFilter }

type Write =
  | { readonly kind: 'create'; readonly rows: readonly Data[] }
  | { readonly kind: 'update'; readonly target: Target; readonly data: Data }
  | { readonly kind: 'delete'; readonly target: Target }

/** If the filter names a key, its other conditions are checked against the record first. */
async function targetOf(reads: ConnectorReads, collection: Collection, where: Filter): Promise<Target | undefined> {
  const named = keyFromFilter(collection, where)
  if (named === undefined) return { kind: 'filter', filter: where }
  if (named.rest.kind === 'none') return undefined
  if (named.rest.kind !== 'all') {
    const rows = await reads.byKey({ collection, where, selection: selected(collection.primaryKey) })
    if (rows.length === 0) return undefined
  }
  return { kind: 'key', key: named.key }
}

/** Sends the one request of a write and returns the written rows. */
async function send(
  { ask, capabilities, idempotencyKey, onSend, term }: Sending,
  collection: Collection,
  selection: Selection,
  write: Write,
): Promise<readonly Row[]> {
  const declared: DeclaredCollection = { collection, capabilities: await capabilities(collection) }
  const key = keyAfter(write)
  const fields = distinct([...projectedFields(selection), ...key.map(({ field }) => field)])
  const request = requestOf(declared, fields, write)
  if (request === undefined) return []
  const isPassedOn = idempotencyKey !== undefined && declared.capabilities.idempotent
  if (term?.isOver()) await requireTerm(term)
  onSend?.()
  const { records } = await ask(isPassedOn ? { ...request, idempotencyKey } : request, fields, { key })
  return records.map(rowOf)
}

/** What is known of the key of the one row that is written; nothing of several. */
function keyAfter(write: Write): Key {
  if (write.kind === 'create' || write.target.kind !== 'key') return []
  const assigned = write.kind === 'update' ? write.data : {}
  return write.target.key.filter(({ field }) => !(field.dbName in assigned))
}

/** Returns undefined if nothing can match. */
function requestOf(
  declared: DeclaredCollection,
  fields: readonly PrimitiveField[],
  write: Write,
): QueryRequest | undefined {
  const base = address(declared.collection, fields)
  if (write.kind === 'create') {
    return { ...base, operation: requireOperation(declared, 'createMany'), data: write.rows }
  }
  const { kind, target } = write
  const data = kind === 'update' ? { data: write.data } : {}
  if (target.kind === 'key') {
    const operation = requireOperation(declared, kind === 'update' ? 'updateOne' : 'deleteOne')
    const { unchanged } = target
    return { ...base, operation, key: keyValues(target.key), ...data, ...(unchanged !== undefined && { unchanged }) }
  }
  const operation = requireOperation(declared, kind === 'update' ? 'updateMany' : 'deleteMany')
  if (target.kind === 'found') return { ...base, operation, filter: target.filter, ...data }
  const pushed = pushFilter(declared, target.filter)
  if (pushed.kind === 'nothing') return undefined
  return { ...base, operation, ...(pushed.kind === 'filter' && { filter: pushed.filter }), ...data }
}

function dataOf(row: readonly Assignment<Operand>[], bindings: Bindings): Data {
  return Object.fromEntries(
    row.map(({ field, value }) => [field.dbName, wireValue(field, value === null ? null : bindText(value, bindings))]),
  )
}

type Run = {
  readonly sending: Sending & ConnectorWritesDeps
  readonly plan: ProgramPlan
  readonly bindings: Bindings
  readonly selection: Selection
}

/** A row in its current or new state: canonical texts by field, and the key it was found by. */
type Draft = { readonly key: Key; readonly values: Map<string, string | null> }

type Search = { readonly collection: Collection; readonly matches: readonly Cell[]; readonly where: Filter }

type Pending =
  | { readonly kind: 'create'; readonly slot: Slot; readonly cells: readonly Cell[] }
  | { readonly kind: 'update'; readonly slot: Slot; readonly cells: readonly Cell[] }
  | { readonly kind: 'delete'; readonly slot: Slot }

/** Runs the steps on drafts; the write comes last, after every check. */
async function runProgram({ sending, plan, bindings, selection }: Run): Promise<readonly Row[]> {
  const { reads, render } = sending
  const slots = new Map<number, readonly Draft[]>()
  const pending: Pending[] = []
  const answers: Slot[] = []
  const unchanged = new Map<number, Data>()
  const draftsOf = (slot: Slot) => slots.get(slot.number) ?? []
  const textFor = ({ value }: Cell): string | null => {
    if (value.kind === 'text') return value.text === null ? null : bindText(value.text, bindings)
    return draftsOf(value.slot)[0]?.values.get(value.field.id) ?? null
  }

  for (const step of plan.steps) {
    if ('provided' in step && step.provided !== undefined && draftsOf(step.provided).length === 0) continue
    await runStep(step)
  }

  async function runStep(step: Step): Promise<void> {
    switch (step.kind) {
      case 'find': {
        if (step.most !== undefined) throw queryFault('max', 'the data source cannot bound what it writes', '4010')
        const drafts = await find({ ...step, collection: step.into.collection })
        if (drafts.length === 0 && step.assertion !== undefined) {
          throw assertionError({ assertion: step.assertion, index: step.index })
        }
        slots.set(step.into.number, drafts)
        return
      }
      case 'check': {
        const where = bindFilter(step.where, bindings)
        if (!draftsOf(step.slot).every((draft) => evaluate(where, rowOfDraft(draft)) === true)) {
          const refused = { collectionId: step.slot.collection.id, action: step.action }
          throw assertionError({ assertion: step.assertion, refused })
        }
        return
      }
      case 'part': {
        const where = bindFilter(step.where, bindings)
        const part = draftsOf(step.slot).filter((draft) => evaluate(where, rowOfDraft(draft)) === true)
        slots.set(step.into.number, part)
        return
      }
      case 'agree': {
        const where = bindFilter(step.where, bindings)
        // As in SQL, what is null agrees with nothing.
        const isSame = (cell: Cell, own: string | null | undefined) => {
          const text = textFor(cell)
          return text !== null && typeof own === 'string' && compareTexts(cell.field, text, own) === 0
        }
        const differs = ({ values }: Draft) => !step.cells.every((cell) => isSame(cell, values.get(cell.field.id)))
        const isFree = (draft: Draft) => evaluate(where, rowOfDraft(draft)) === true
        if (!draftsOf(step.slot).every((draft) => isFree(draft) || !differs(draft))) throw disagreement(step)
        return
      }
      case 'match':
        await match(step)
        return
      case 'refer':
        await refer(step)
        return
      case 'insert':
        if (step.absent !== undefined)
          throw queryFault('conflict', 'the data source cannot add or change at once', '4010')
        slots.set(step.into.number, [
          { key: [], values: new Map(step.cells.map((cell) => [cell.field.id, textFor(cell)])) },
        ])
        pending.push({ kind: 'create', slot: step.into, cells: step.cells })
        return
      case 'range':
        throw unaltered(step.field)
      case 'update':
        for (const { field } of step.alterations) throw unaltered(field)
        for (const { values } of draftsOf(step.slot)) {
          for (const cell of step.cells) values.set(cell.field.id, textFor(cell))
        }
        pending.push({ kind: 'update', slot: step.slot, cells: step.cells })
        return
      case 'delete':
        pending.push({ kind: 'delete', slot: step.slot })
        return
      case 'require':
        if (draftsOf(step.slot).length === 0) throw assertionError({ assertion: step.assertion })
        return
      case 'answer':
        answers.push(step.slot)
        return
    }
  }

  /** Compares the rows as they were found; the connector then holds them to the values that were compared. */
  async function match({ slot, forms, tags }: Extract<Step, { readonly kind: 'match' }>) {
    const { conditional } = await sending.capabilities(slot.collection)
    if (!conditional) throw unsupported(slot.collection, 'does not declare conditional: its items cannot be compared')
    const bound = forms.map((form) => bindSelection(form, bindings))
    for (const draft of draftsOf(slot)) {
      const row = rowOfDraft(draft)
      const own = []
      for (const form of bound) own.push(await sending.tagOf((await render(form, [row])).slice(1, -1)))
      if (!own.some((tag) => tags.includes(tag))) throw assertionError({ assertion: 'changed' })
      const values = distinct(bound.flatMap(projectedFields)).map((field) => [
        field.dbName,
        wireValue(field, row(field)),
      ])
      unchanged.set(slot.number, Object.fromEntries(values))
    }
  }

  /** Looks up each referenced key once. */
  async function refer({ slot, relation, cells, where, seen, assertion }: Extract<Step, { readonly kind: 'refer' }>) {
    const known = new Set<string>()
    const whereSeen = bindFilter(seen, bindings)
    for (const draft of draftsOf(slot)) {
      const { values } = draft
      const isSame = cells.length > 0 && cells.every((cell) => textFor(cell) === values.get(cell.field.id))
      if (isSame && evaluate(whereSeen, rowOfDraft(draft)) === true) continue
      const texts = relation.joins.map(({ own }) => {
        const cell = cells.find(({ field }) => field === own)
        return cell === undefined ? (values.get(own.id) ?? null) : textFor(cell)
      })
      const name = JSON.stringify(texts)
      if (texts.includes(null) || known.has(name)) continue
      known.add(name)
      const matches = relation.joins.map(({ other }, index): Cell => {
        return { field: other, value: { kind: 'text', text: texts[index] ?? null } }
      })
      const found = await find({ collection: relation.target, matches, where })
      if (found.length === 0) throw assertionError({ assertion })
    }
  }

  async function find(search: Search): Promise<readonly Draft[]> {
    const { collection } = search
    const matches = search.matches.map((cell): Filter => {
      const text = textFor(cell)
      const { field } = cell
      if (text === null) return { kind: 'null', field, visible: all, negated: false }
      return { kind: 'compare', field, visible: all, operator: '=', operand: text }
    })
    const where = bindFilter(and([...matches, search.where]), bindings)
    const page = { order: [], limit: MAX_FOUND + 1, offset: 0 }
    const rows = await reads.byKey(
      { collection, where, selection: selected(collection.primitives), page },
      { freshness: 'fresh' },
    )
    if (rows.length > MAX_FOUND) throw queryFault('filter', `matches more than ${MAX_FOUND} items`)
    return rows.map((row) => ({
      key: collection.primaryKey.map((field) => ({ field, text: row(field) ?? '' })),
      values: new Map(collection.primitives.map((field) => [field.id, row(field)])),
    }))
  }

  const kept = new Map(answers.map((slot) => [slot.number, draftsOf(slot).map((draft) => rowOfDraft(draft))]))
  const write = oneWrite(pending, { draftsOf, textFor, unchanged })
  const rowsBefore = (slot: Slot) => kept.get(slot.number) ?? []
  if (write === undefined) return answers.flatMap(rowsBefore)
  // What is written may be another item, in another collection, than the one that is answered.
  const isAnswered = answers.some(({ number }) => write.slots.includes(number))
  const returned = isAnswered ? selection : selected(write.collection.primaryKey)
  const written = await send(sending, write.collection, returned, write.write).catch((error: unknown) => {
    throw isChanged(error) ? assertionError({ assertion: 'changed' }) : error
  })
  const { kind } = write.write
  return answers.flatMap((slot) => {
    const at = write.slots.indexOf(slot.number)
    if (at < 0 || kind === 'delete') return rowsBefore(slot)
    return kind === 'create' ? written.slice(at, at + 1) : written
  })
}

function unaltered({ apiName }: PrimitiveField) {
  return queryFault(apiName, 'takes no operators: its data source sets values as a whole', '4010')
}

/** Whether the connector has found another item than was compared. */
function isChanged(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === '4120' || isChanged(error.cause))
}

/** Some search engines return at most 1,000 rows of a list, and one more than this is asked for. */
const MAX_FOUND = 999

type Drafts = {
  readonly draftsOf: (slot: Slot) => readonly Draft[]
  readonly textFor: (cell: Cell) => string | null
  /** What was compared of the rows of a slot. */
  readonly unchanged: ReadonlyMap<number, Data>
}

/** Combines all pending changes into one write of one collection; undefined if there is nothing to write. */
function oneWrite(
  pending: readonly Pending[],
  { draftsOf, textFor, unchanged }: Drafts,
): { readonly collection: Collection; readonly slots: readonly number[]; readonly write: Write } | undefined {
  const due = pending.filter(({ kind, slot }) => kind === 'create' || draftsOf(slot).length > 0)
  const [first] = due
  if (first === undefined) return undefined
  const { collection } = first.slot
  const isOne = due.every(
    ({ kind, slot }) =>
      kind === first.kind &&
      slot.collection.id === collection.id &&
      (kind === 'create' || slot.number === first.slot.number),
  )
  if (!isOne) throw unsupported(collection, 'can take one write per request only: its data source has no transactions')
  const slots = due.map(({ slot }) => slot.number)
  if (first.kind === 'create') {
    return {
      collection,
      slots,
      write: { kind: 'create', rows: due.map(({ slot }) => draftData(collection, draftsOf(slot)[0])) },
    }
  }
  const target = foundTarget(draftsOf(first.slot), unchanged.get(first.slot.number))
  if (first.kind === 'delete') return { collection, slots, write: { kind: 'delete', target } }
  const data = Object.fromEntries(
    due.flatMap((part) =>
      part.kind === 'delete' ? [] : part.cells.map((cell) => [cell.field.dbName, wireValue(cell.field, textFor(cell))]),
    ),
  )
  return { collection, slots, write: { kind: 'update', target, data } }
}

function draftData({ primitives }: Collection, draft: Draft | undefined): Data {
  return Object.fromEntries(
    primitives.flatMap((field) => {
      const text = draft?.values.get(field.id)
      return text === undefined ? [] : [[field.dbName, wireValue(field, text)]]
    }),
  )
}

function foundTarget(drafts: readonly Draft[], unchanged: Data | undefined): Target {
  const [first] = drafts
  if (first !== undefined && drafts.length === 1) return { kind: 'key', key: first.key, unchanged }
  const [field] = first?.key.map((part) => part.field) ?? []
  if (field === undefined || (first !== undefined && first.key.length > 1)) {
    return { kind: 'found', filter: { or: drafts.map(({ key }) => keyFilter(key)) } }
  }
  const value = drafts.map(({ key }) => keyValues(key)[field.dbName])
  return { kind: 'found', filter: { field: field.dbName, operator: 'in', value } }
}

function rowOfDraft({ values }: Draft): Row {
  return (field) => values.get(field.id) ?? null
}

function selected(fields: readonly PrimitiveField[]): Selection {
  return fields.map((field) => ({ kind: 'field', name: field.dbName, field, visible: all }))
}
