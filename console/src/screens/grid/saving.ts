/**
 * Changes of cells, saved one after the other. Each knows the value that its cell had when it was typed, and goes out with the
 * tag of its row: an item that somebody else has changed is read anew, changes of other fields merge, and the same field is asked about. What
 * cannot be saved stays, with the reason, until it is tried again or discarded.
 */
import { computed, type Signal, signal } from '@preact/signals'
import { ServiceError } from 'governed-data-client'
import { unsavedAt } from '../../data/unsaved.ts'
import { batchOf, itemsOf, keyInPath, piecesOf, readItems, requestedFields } from './items.ts'
import type { CollectionModel } from './model.ts'
import { isKept, isSame, ownOf, type Row, type Value } from './values.ts'

export type Change = {
  readonly key: readonly unknown[]
  readonly field: string
  /** What the cell had when it was typed. */
  readonly base: Value
  readonly value: Value
  /** Of operations on a relation, which no value stands for: those that lead back, and how they are told. */
  readonly link?: { readonly back: Value; readonly shown: string }
}

export type Conflict = { readonly change: Change; readonly theirs: Value }
export type Choice = 'mine' | 'theirs' | undefined

/** Changes that belong together: all are saved or none, as far as one batch has room for their rows. */
export type Edit = { readonly changes: readonly Change[]; readonly error?: ServiceError }

/** Of what an earlier page could not bring to its end. */
const unsent = () => new ServiceError(0, { message: '', code: 'unsent' })

/** What leads back from an edit, for each batch of it: while it is under way by what was typed, then by what is stored; nothing where it failed. */
type Step = { backs: (readonly Change[])[] }
type Taken = { readonly step: Step; readonly way: 'back' | 'forth' }

type Kept = {
  readonly find: (key: readonly unknown[]) => Row | undefined
  readonly replace: (key: readonly unknown[], row: Row) => void
}

export type Saving = ReturnType<typeof createSaving>

/** More often an item is hardly changed within one save. */
const TRIES = 5

/** By who types and where: what is not saved yet outlives the screen that it was typed in. */
const all = new Map<string, { readonly saving: Saving; rows: Kept }>()

/** `rows` are those on the screen now. */
export function savingOf(whose: string, workspace: string, model: CollectionModel, rows: Kept): Saving {
  const id = JSON.stringify([whose, workspace, model.name])
  const known = all.get(id)
  if (known !== undefined) {
    known.rows = rows
    return known.saving
  }
  const kept: Kept = {
    find: (key) => all.get(id)?.rows.find(key),
    replace: (key, row) => all.get(id)?.rows.replace(key, row),
  }
  const edits = unsavedAt<readonly Edit[]>(['edits', whose, workspace, model.name], [])
  if (edits.value.length > 0) edits.value = edits.value.map(({ changes }) => ({ changes, error: unsent() }))
  const saving = createSaving(workspace, model, { kept, edits })
  all.set(id, { saving, rows })
  return saving
}

type SavingProps = { readonly kept: Kept; readonly edits: Signal<readonly Edit[]> }

function createSaving(workspace: string, model: CollectionModel, { kept, edits }: SavingProps) {
  const items = itemsOf(workspace, model)
  const fields = requestedFields(model)
  const conflicts = signal<
    { readonly all: readonly Conflict[]; readonly choose: (choice: Choice) => void } | undefined
  >(undefined)
  let steps: readonly Step[] = []
  /** What leads forth again to where one was before undoing, until something else is changed. */
  let undone: readonly Step[] = []
  /** What was sent last for a cell and what became of it, such as `1.5` and `1.5000`; or may have, where no answer came. */
  const settled = new Map<string, { readonly sent: Value; readonly got: Value }>()
  let last: Promise<unknown> = Promise.resolve()

  const types = new Map(model.fields.map((field) => [field.name, field]))
  /** Without those that would write a number back that has lost digits on its way here. */
  const writable = (back: readonly Change[]) =>
    back.filter(({ field, value, link }) => link !== undefined || isKept(types.get(field) ?? { type: '' }, value))
  const keyIn = (row: Row) => model.key.map((name) => row[name])

  /** The last change of each cell that is not saved yet. */
  const waiting = computed(
    () =>
      new Map<string, Waiting>(
        edits.value.flatMap(({ changes, error }) =>
          changes.map(
            (change) => [idOf(change.key, change.field), { change, error, hasFailed: error !== undefined }] as const,
          ),
        ),
      ),
  )
  const isAsTyped = ({ key, field, base }: Change, now: Value) => {
    const own = settled.get(idOf(key, field))
    return isSame(now, base) || (own !== undefined && isSame(own.sent, base) && isSame(own.got, now))
  }

  /** Reads rows anew; where one is gone, its own address says why. */
  async function readAll(keys: readonly (readonly unknown[])[]): Promise<ReadonlyMap<string, Row>> {
    const [only] = keys
    const isOne = keys.length === 1 && only !== undefined
    const found = isOne
      ? [await items.get(keyInPath(only), { fields }).orThrow()]
      : await readItems(workspace, model, keys)
    const now = new Map(found.map((row) => [JSON.stringify(keyIn(row)), row]))
    for (const key of keys) {
      const id = JSON.stringify(key)
      const row = now.get(id) ?? (await items.get(keyInPath(key), { fields }).orThrow())
      now.set(id, row)
      kept.replace(key, row)
    }
    return now
  }

  /** Throws what fails; the answer are the changes that lead back. */
  async function write(changes: readonly Change[], tries = TRIES): Promise<readonly Change[]> {
    if (changes.length === 0) return []
    const rows = new Map<string, { key: readonly unknown[]; row: Row | undefined; changes: Change[] }>()
    for (const change of changes) {
      const id = JSON.stringify(change.key)
      const of = rows.get(id) ?? { key: change.key, row: kept.find(change.key), changes: [] }
      of.changes.push(change)
      // A column that is hidden meanwhile is not in the rows any more.
      if (of.row !== undefined && !Object.hasOwn(of.row, change.field)) of.row = undefined
      rows.set(id, of)
    }
    const unknown = [...rows.values()].filter(({ row }) => row === undefined)
    const read = unknown.length > 0 ? await readAll(unknown.map(({ key }) => key)) : undefined
    const sent = [...rows].map(([id, { key, row: known, changes: own }]) => {
      const row = known ?? read?.get(id) ?? {}
      // What leads back is what is stored.
      const based = own.map((change) => {
        const now = ownOf(row, change.field)
        return !change.link && isAsTyped(change, now) ? { ...change, base: now } : change
      })
      return { key, row, changes: based }
    })
    const found = sent.flatMap(({ row, changes: own }) =>
      own.flatMap((change): Conflict[] => {
        const theirs = ownOf(row, change.field)
        return isAsTyped(change, theirs) || isSame(theirs, change.value) ? [] : [{ change, theirs }]
      }),
    )
    if (found.length > 0) {
      const choice = await new Promise<Choice>((choose) => {
        conflicts.value = { all: found, choose }
      })
      conflicts.value = undefined
      if (choice === undefined) throw new ServiceError(412, { message: found.map(({ change }) => change.field).join() })
      const decided = changes.flatMap((change) => {
        const conflict = found.find((one) => one.change === change)
        if (conflict === undefined) return change
        return choice === 'mine' ? { ...change, base: conflict.theirs } : []
      })
      return write(decided, tries)
    }
    const calls = sent.map(({ key, row, changes: own }) =>
      items.update(keyInPath(key), Object.fromEntries(own.map(({ field, value }) => [field, value])), {
        fields,
        ifMatch: String(row._etag),
      }),
    )
    try {
      const answers = await batchOf(workspace, calls)
      for (const [index, { key }] of sent.entries()) kept.replace(key, answers[index] as Row)
      const back = sent.flatMap(({ changes: own }, index) =>
        own.map(({ key, field, base, value, link }) => {
          const row = answers[index] as Row
          if (link) return reversed({ key: keyIn(row), field, base, value, link })
          settled.set(idOf(key, field), { sent: value, got: row[field] })
          return { key: keyIn(row), field, base: row[field], value: base }
        }),
      )
      return writable(back)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 412 || tries === 0) throw error
      await readAll(sent.map(({ key }) => key))
      return write(changes, tries - 1)
    }
  }

  type Part = { readonly step: Step; readonly at: number; readonly takes: Step | undefined }

  /** Whether it was saved. */
  async function run(edit: Edit, { step, at, takes }: Part): Promise<boolean> {
    try {
      step.backs[at] = await write(takes?.backs[at] ?? edit.changes)
      edits.value = edits.value.filter((one) => one !== edit)
      return true
    } catch (error) {
      step.backs[at] = []
      const failed =
        error instanceof ServiceError ? error : new ServiceError(0, { message: String(error), code: 'network' })
      edits.value = edits.value.map((one) => (one === edit ? { changes: edit.changes, error: failed } : one))
      return false
    }
  }

  function keep(step: Step, way: Taken['way'] | undefined): void {
    if (way === 'back') undone = [...undone, step]
    else steps = [...steps, step]
    if (way === undefined) undone = []
  }

  /** Parts are saved one after the other, those of a step that is taken back or forth among them. Whether all was saved, once that is known. */
  function save(parts: readonly (readonly Change[])[], taken?: Taken): Promise<boolean> {
    if (parts.length === 0) return Promise.resolve(true)
    const cells = new Set(parts.flatMap((part) => part.map(({ key, field }) => idOf(key, field))))
    // What was typed there before and could not be saved is typed over; operations on a relation add up.
    const isOver = ({ changes: before, error }: Edit) =>
      error !== undefined && before.every(({ key, field, link }) => !link && cells.has(idOf(key, field)))
    for (const { key, field, base, value } of edits.value.filter(isOver).flatMap(({ changes }) => changes))
      settled.set(idOf(key, field), { sent: base, got: value })
    const own = parts.map((changes): Edit => ({ changes }))
    edits.value = [...edits.value.filter((one) => !isOver(one)), ...own]
    const step: Step = { backs: parts.map((part) => writable(part.map(reversed))) }
    keep(step, taken?.way)
    const saved = last.then(async () => {
      let isWhole = true
      for (const [at, edit] of own.entries()) isWhole = (await run(edit, { step, at, takes: taken?.step })) && isWhole
      if (step.backs.every((back) => back.length === 0)) {
        steps = steps.filter((one) => one !== step)
        undone = undone.filter((one) => one !== step)
      }
      return isWhole
    })
    last = saved
    return saved
  }

  return {
    /** What is under way, and what could not be saved. */
    edits,
    conflicts,
    waiting,
    save: (changes: readonly Change[]) => save(partsOf(changes)),
    /** Changes that lead back from what was saved elsewhere. */
    remember(back: readonly Change[]): void {
      const parts = partsOf(writable(back))
      if (parts.length > 0) keep({ backs: [...parts] }, undefined)
    },
    /** Takes back what was changed last, saved or under way. */
    undo(): boolean {
      const step = steps.at(-1)
      if (step === undefined) return false
      steps = steps.slice(0, -1)
      void save(step.backs, { step, way: 'back' })
      return true
    },
    /** Brings again what was taken back last. */
    redo(): boolean {
      const step = undone.at(-1)
      if (step === undefined) return false
      undone = undone.slice(0, -1)
      void save(step.backs, { step, way: 'forth' })
      return true
    },
    retry(edit: Edit): void {
      edits.value = edits.value.filter((one) => one !== edit)
      void save([edit.changes])
    },
    discard(edit: Edit): void {
      edits.value = edits.value.filter((one) => one !== edit)
    },
  }
}

/** As many rows as a batch takes. */
function partsOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  const rows = Map.groupBy(changes, ({ key }) => JSON.stringify(key))
  return piecesOf([...rows.values()]).map((piece) => piece.flat())
}

const idOf = (key: readonly unknown[], field: string) => JSON.stringify([key, field])

type Waiting = {
  readonly change: Change
  readonly error: ServiceError | undefined
  readonly hasFailed: boolean
}

/** The change that leads back. */
function reversed(change: Change): Change {
  const { base, value, link } = change
  if (link) return { ...change, value: link.back, link: { ...link, back: value } }
  return { ...change, base: value, value: base }
}

/** The last change of a field that is not saved yet. */
export function waitingIn(saving: Saving, key: readonly unknown[], field: string): Waiting | undefined {
  return saving.waiting.value.get(idOf(key, field))
}

/** What a field has, or will have once what is under way is saved. */
export function baseIn(saving: Saving, key: readonly unknown[], field: string, now: Value): Value {
  const known = waitingIn(saving, key, field)
  if (known === undefined) return now
  return known.hasFailed ? known.change.base : known.change.value
}
