/** Runs a program of steps over a connector on rows in memory, and sends all its writes as one request at the end. */
import { bindFilter, bindText, keyFilter, keyValues } from '../../core/connector/by-key.ts'
import type { Key } from '../../core/connector/protocol.ts'
import { unsupported } from '../../core/connector/push-down.ts'
import { ServiceError } from '../../core/error.ts'
import type { Collection, PrimitiveField } from '../../core/model/model.ts'
import { wireValue } from '../../core/model/wire.ts'
import type { Cell, ProgramPlan, Selection, Slot, Step } from '../../core/plan/plan.ts'
import { projectedFields } from '../../core/plan/project-row.ts'
import { evaluate, type Row } from '../../core/query/evaluate.ts'
import { all, and, type Filter } from '../../core/query/filter.ts'
import { queryFault } from '../../core/query/parse.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import { compareTexts } from '../../core/query/text-order.ts'
import { assertionError, disagreement } from '../assertion-error.ts'
import type { RenderRows } from '../rendered-rows.ts'
import { bindSelection, type ConnectorReads, type ConnectorSourceDeps, distinct } from './read.ts'
import { type Data, type Sending, selected, send, type Target, type Write } from './send.ts'

export type ConnectorWritesDeps = ConnectorSourceDeps & { readonly render: RenderRows }

type Run = {
  readonly sending: Sending & ConnectorWritesDeps & { readonly reads: ConnectorReads }
  readonly plan: ProgramPlan
  readonly bindings: Bindings
  readonly selection: Selection
}

/** A row in its current or new state: canonical texts by field, and the key by which it was found. */
type Draft = { readonly key: Key; readonly values: Map<string, string | null> }

type Search = { readonly collection: Collection; readonly matches: readonly Cell[]; readonly where: Filter }

type Pending =
  | { readonly kind: 'create'; readonly slot: Slot; readonly cells: readonly Cell[] }
  | { readonly kind: 'update'; readonly slot: Slot; readonly cells: readonly Cell[] }
  | { readonly kind: 'delete'; readonly slot: Slot }

/** Runs the steps on drafts; the write is sent last, after every check. */
export async function runProgram({ sending, plan, bindings, selection }: Run): Promise<readonly Row[]> {
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
        // As in SQL, null equals nothing.
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

  /** Compares the entity tags of the rows as found; the connector then writes only if the compared values are unchanged. */
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
  // The written item may differ from the answered one, and be in another collection.
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

/** True if the connector found that the item has changed since it was compared. */
function isChanged(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === '4120' || isChanged(error.cause))
}

/** Some search engines return at most 1,000 rows, and a read requests one more than this. */
const MAX_FOUND = 999

type Drafts = {
  readonly draftsOf: (slot: Slot) => readonly Draft[]
  readonly textFor: (cell: Cell) => string | null
  /** The compared values of the rows of a slot. */
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
