/**
 * The Plan union: what is to be done, fully resolved against model and access. Sources run plans; nothing behind this
 * point knows of callers, policies or request syntax.
 */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { FieldRef, Filter } from '../query/filter.ts'

export type Order = FieldRef & {
  readonly direction: 'asc' | 'desc'
  readonly nulls: 'first' | 'last'
  /** Whether the caller asked for it, or it only makes the order total. */
  readonly origin: 'asked' | 'tie'
}

/** What of each row is answered, in the order asked for. */
export type Selection = readonly Selected[]

export type Selected =
  | (FieldRef & { readonly kind: 'field'; readonly name: string })
  | {
      readonly kind: 'relation'
      readonly name: string
      readonly relation: RelationField
      readonly visible: Filter
      /** Which related rows the caller sees; a to-many is `page`d per parent. */
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
  /** Undefined where one item is read by its key. */
  readonly page: Page | undefined
  /** Whether the number of all matching rows is wanted too. */
  readonly count: boolean
}

/** A value for one column, in the database's text form. */
export type Assignment = { readonly field: PrimitiveField; readonly value: string | null }

/** Items of one collection and nothing else. */
export type CreatePlan = {
  readonly kind: 'create'
  readonly collection: Collection
  readonly rows: readonly (readonly Assignment[])[]
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

/** Everything else a write can be: steps of one transaction, of which the `answer` steps tell what is answered. */
export type ProgramPlan = {
  readonly kind: 'program'
  readonly steps: readonly Step[]
  readonly selection: Selection
}

/** Rows that a step finds or makes and later steps build on; there may turn out to be none. */
export type Slot = { readonly number: number; readonly collection: Collection }

/** A column's value: a text as sent, or what the same transaction has in the first row of a slot. */
export type Cell = {
  readonly field: PrimitiveField
  readonly value:
    | { readonly kind: 'text'; readonly text: string | null }
    | { readonly kind: 'kept'; readonly slot: Slot; readonly field: PrimitiveField }
}

/** What ends a transaction that cannot go on; each has an answer of its own (docs/contract.md#how-policies-act). */
export type Assertion = 'noRecord' | 'noReference' | 'forbidden' | 'invalid'

export type Step =
  | {
      readonly kind: 'insert'
      readonly into: Slot
      readonly cells: readonly Cell[]
      /** Inserted only if this slot has a row. */
      readonly provided: Slot | undefined
    }
  | {
      readonly kind: 'find'
      readonly into: Slot
      readonly matches: readonly Cell[]
      readonly where: Filter
      /** What it means when there is no such row; undefined lets later steps on the slot do nothing. */
      readonly assertion: Assertion | undefined
      readonly provided: Slot | undefined
      /** A row that is only referred to has to stay, but others may refer to it and change it at the same time. */
      readonly lock: 'change' | 'reference'
    }
  /** `where` must be true of every row in the slot, as it is now. */
  | { readonly kind: 'check'; readonly slot: Slot; readonly where: Filter; readonly assertion: Assertion }
  /**
   * Rows of the slot are about to get these cells of the relation's foreign key. Where that changes what one refers to,
   * there must be such a row where `where` holds. Without cells it is asked of the rows as they are.
   */
  | {
      readonly kind: 'refer'
      readonly slot: Slot
      readonly relation: RelationField
      readonly cells: readonly Cell[]
      readonly where: Filter
      readonly assertion: Assertion
    }
  /** Changes all rows of the slot; key columns among the cells move the slot along. */
  | { readonly kind: 'update'; readonly slot: Slot; readonly cells: readonly Cell[] }
  | { readonly kind: 'delete'; readonly slot: Slot }
  | { readonly kind: 'answer'; readonly slot: Slot }

export type WritePlan = CreatePlan | UpdatePlan | DeletePlan | ProgramPlan
export type Plan = ReadPlan | WritePlan
