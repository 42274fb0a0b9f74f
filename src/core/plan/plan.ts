/**
 * The Plan union: reads and writes, fully resolved against model and access. Sources run plans; they know nothing of
 * callers, policies or request syntax.
 */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { FieldRef, Filter } from '../query/filter.ts'
import type { Operand } from '../query/placeholder.ts'

export type Order = FieldRef & {
  readonly direction: 'asc' | 'desc'
  readonly nulls: 'first' | 'last'
  /** Requested by the caller, or added to make the order total. */
  readonly origin: 'asked' | 'tie'
}

/** The selected fields of each row, in the requested order. */
export type Selection = readonly Selected[]

export type Selected =
  | (FieldRef & { readonly kind: 'field'; readonly name: string })
  | {
      readonly kind: 'relation'
      readonly name: string
      readonly relation: RelationField
      readonly visible: Filter
      /** Of a many-to-many field, the rows of its junction that count. */
      readonly links?: Filter
      /** The related rows that the caller sees; `page` is the page per parent of a to-many relation. */
      readonly where: Filter
      readonly selection: Selection
      readonly page: Page | undefined
    }

export type Page = { readonly order: readonly Order[]; readonly limit: number; readonly offset: number }

export type ReadPlan = {
  readonly kind: 'read'
  readonly collection: Collection
  readonly selection: Selection
  readonly where: Filter
  /** Undefined if one item is read by its key. */
  readonly page: Page | undefined
  /** Also count all matching rows. */
  readonly count: boolean
}

/** A value for one column, in the database's text form. */
export type Assignment<Value extends Operand = string> = {
  readonly field: PrimitiveField
  readonly value: Value | null
}

/** Creates items of one collection, without nested writes. */
export type CreatePlan = {
  readonly kind: 'create'
  readonly collection: Collection
  readonly rows: readonly (readonly Assignment<Operand>[])[]
  readonly selection: Selection
}

export type UpdatePlan = {
  readonly kind: 'update'
  readonly collection: Collection
  readonly where: Filter
  readonly assignments: readonly Assignment[]
  readonly selection: Selection
}

export type DeletePlan = {
  readonly kind: 'delete'
  readonly collection: Collection
  readonly where: Filter
  readonly selection: Selection
}

/** All other writes: steps of one transaction. The `answer` steps return the written items. */
export type ProgramPlan = {
  readonly kind: 'program'
  readonly steps: readonly Step[]
  readonly selection: Selection
}

/** Rows that a step finds or creates for later steps; possibly none. */
export type Slot = { readonly number: number; readonly collection: Collection }

/** A column's value: a text, or a column of the first row in a slot of the same transaction. */
export type Cell = {
  readonly field: PrimitiveField
  readonly value:
    | { readonly kind: 'text'; readonly text: string | null }
    | { readonly kind: 'kept'; readonly slot: Slot; readonly field: PrimitiveField }
}

/** What ends a transaction; each assertion has its own error (docs/contract.md#how-policies-act). */
export type Assertion = 'noRecord' | 'noReference' | 'forbidden' | 'invalid'

export type Step =
  | {
      readonly kind: 'insert'
      readonly into: Slot
      readonly cells: readonly Cell[]
      /** Inserts only if this slot has a row. */
      readonly provided: Slot | undefined
    }
  | {
      readonly kind: 'find'
      readonly into: Slot
      readonly matches: readonly Cell[]
      readonly where: Filter
      /** The assertion that fails with fewer than `count` rows; undefined: later steps on the slot then do nothing. */
      readonly assertion: Assertion | undefined
      readonly count: number
      readonly provided: Slot | undefined
      /** `reference`: the row must not be deleted, but others may refer to it and change it concurrently. */
      readonly lock: 'change' | 'reference'
    }
  /** `where` must hold for every row in the slot, in its current state. */
  | { readonly kind: 'check'; readonly slot: Slot; readonly where: Filter; readonly assertion: Assertion }
  /**
   * The rows of the slot are about to get these cells in the relation's foreign key. Where that changes the reference,
   * a row that meets `where` must exist. Without cells, the rows are checked as they are.
   */
  | {
      readonly kind: 'refer'
      readonly slot: Slot
      readonly relation: RelationField
      readonly cells: readonly Cell[]
      readonly where: Filter
      readonly assertion: Assertion
    }
  /** Updates all rows of the slot. If `cells` contain key columns, the slot follows the change. */
  | { readonly kind: 'update'; readonly slot: Slot; readonly cells: readonly Cell[] }
  | { readonly kind: 'delete'; readonly slot: Slot }
  | { readonly kind: 'answer'; readonly slot: Slot }

export type WritePlan = CreatePlan | UpdatePlan | DeletePlan | ProgramPlan
export type Plan = ReadPlan | WritePlan
