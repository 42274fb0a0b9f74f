/**
 * The Plan union: reads and writes, fully resolved against model and access. Sources run plans; they know nothing of
 * callers, policies or request syntax.
 */
import type { Action } from '../access/access.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { AggregateFunction } from '../model/vocabulary.ts'
import type { TruncationUnit } from '../query/aggregate-query.ts'
import type { FieldRef, Filter } from '../query/filter.ts'
import type { Operand } from '../query/placeholder.ts'
import type { Refused } from './names.ts'

/** A term of an order: a field of the row, or of the row at the end of a path of to-one relations. */
export type Order = FieldRef & {
  readonly path: readonly PathStep[]
  readonly direction: 'asc' | 'desc'
  readonly nulls: 'first' | 'last'
  /** Requested by the caller, or added to make the order total. */
  readonly origin: 'requested' | 'tie'
}

/** A to-one relation on the path to a field, and the target's rows that the caller may see. */
export type PathStep = { readonly relation: RelationField; readonly visible: Filter; readonly rows: Filter }

/** The selected fields of each row, in the requested order. */
export type Selection = readonly Selected[]

export type Selected = SelectedField | SelectedTag | SelectedRelation | SelectedAggregates

/** Related rows: `page` is the page per parent of a to-many relation, `aggregates` cover all related rows. */
export type SelectedRelation = Behind & {
  readonly kind: 'relation'
  readonly selection: Selection
  readonly page: Page | undefined
  readonly aggregates?: readonly Aggregate[]
}

/** Aggregates of related rows that are not selected themselves. */
export type SelectedAggregates = Behind & { readonly kind: 'aggregates'; readonly aggregates: readonly Aggregate[] }

type Behind = {
  readonly name: string
  readonly relation: RelationField
  readonly visible: Filter
  /** For a many-to-many field, the rows of its junction that count. */
  readonly links?: Filter
  /** The related rows that the caller may see. */
  readonly where: Filter
}

export type SelectedField = FieldRef & { readonly kind: 'field'; readonly name: string }

/** The entity tag of the row's visible fields `shown`, whatever else is selected. */
export type SelectedTag = {
  readonly kind: 'tag'
  readonly name: string
  readonly visible: Filter
  readonly shown: readonly SelectedField[]
}

/** An aggregate over rows: their number, or a function of one of their fields. */
export type Aggregate = { readonly output: PrimitiveField } & (
  | { readonly function: 'rows' }
  | (FieldRef & { readonly function: AggregateFunction })
)

/** A value by which rows are grouped: a field, possibly behind to-one relations, optionally truncated. */
export type Group = FieldRef & {
  readonly output: PrimitiveField
  /** The relations on the path to the field, outermost first. */
  readonly path: readonly PathStep[]
  readonly truncation: Truncation | undefined
}

export type Truncation = { readonly unit: TruncationUnit; readonly zone: TimeZone }

/** Minutes east of UTC, or a name that the database knows. */
export type TimeZone =
  | { readonly kind: 'offset'; readonly minutes: number }
  | { readonly kind: 'named'; readonly name: string; readonly path: string }

/** Groups of a collection's rows, each with its aggregates; without `groups`, all rows are one group. */
export type Grouping = {
  readonly collection: Collection
  readonly where: Filter
  readonly groups: readonly Group[]
  readonly aggregates: readonly Aggregate[]
}

export type Page = Cut & { readonly order: readonly Order[]; readonly walk?: Walk }

/** A page that begins after a cursor, ends before one, or has the cursors of adjacent pages. */
export type Walk = {
  /** Identifies the order in cursors. */
  readonly digest: string
  readonly direction: 'forward' | 'backward'
  /** The cursor's value for each term of the order; undefined for a page without a cursor. */
  readonly start: readonly (Operand | null)[] | undefined
  /** The cursor as sent, which an empty page returns. */
  readonly sentCursor: Operand | undefined
  /** The parameter in which the cursor was sent. */
  readonly place: string
  readonly withCursors: boolean
}

export type Cut = { readonly limit: number; readonly offset: number }

export type ReadPlan = {
  readonly kind: 'read'
  readonly collection: Collection
  readonly selection: Selection
  readonly where: Filter
  /** For a list, only rows whose `field` has one of these values; used for relations from another source. */
  readonly keys?: { readonly field: PrimitiveField; readonly values: readonly string[] }
  /** Undefined for reading one item by its key. */
  readonly page: Page | undefined
  /** Also count all matching rows. */
  readonly count: boolean
  /** Also estimates the number of matching rows: by the planner if that reveals no hidden row, otherwise by a limited count. */
  readonly estimate?: 'planned' | 'counted'
  /** Set if the rows are groups: `collection` then has the outputs as fields, and `where` filters groups. */
  readonly grouping?: Grouping
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
  /** The order of the answered rows. */
  readonly order: readonly Order[]
  readonly assignments: readonly Assignment<Operand>[]
  readonly selection: Selection
}

export type DeletePlan = {
  readonly kind: 'delete'
  readonly collection: Collection
  readonly where: Filter
  /** The order of the answered rows. */
  readonly order: readonly Order[]
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

/** A column's value: a text, or a column of a row in a slot of the same transaction; null if the slot has no row. */
export type Cell = {
  readonly field: PrimitiveField
  readonly value:
    | { readonly kind: 'text'; readonly text: Operand | null }
    | {
        readonly kind: 'kept'
        readonly slot: Slot
        readonly field: PrimitiveField
        /** Index of the row in the slot; the first by default. */
        readonly row?: number
        /** The slot to use if the other one has no row. */
        readonly or?: Slot
      }
}

/** A change of a column's current value; null stays null. `text` is the operand, for a list the text of a list. */
export type Alteration = {
  readonly field: PrimitiveField
  readonly operator: '_increment' | '_append' | '_remove'
  readonly text: string
}

/**
 * Reasons for a transaction to fail, each with its own error (docs/contract.md#how-policies-act). `left`: after the change, the
 * caller could no longer update the item. `lost`: the item can no longer be found by its new key.
 */
export type Assertion = 'noRecord' | 'noReference' | 'noValue' | 'forbidden' | 'left' | 'invalid' | 'changed' | 'lost'

/** A failed assertion, with the details for its error. */
export type Unmet =
  /** `number` is that of the step. */
  | { readonly assertion: 'differs'; readonly number: number }
  /** `index` is the missing item's index in the sent list. */
  | { readonly assertion: Assertion; readonly refused?: Refused | undefined; readonly index?: number | undefined }
  | { readonly assertion: 'tooMany'; readonly most: number }
  | { readonly assertion: 'outOfRange'; readonly fieldId: string }

export type Step =
  | {
      readonly kind: 'insert'
      readonly into: Slot
      readonly cells: readonly Cell[]
      /** Inserts only if this slot has a row. */
      readonly provided: Slot | undefined
      /** Inserts only if this slot has no row. */
      readonly absent: Slot | undefined
      /** Inserts nothing if another row has the same values in these fields. */
      readonly unless: readonly PrimitiveField[] | undefined
      /** The fields of the unique index by which `absent` was searched. */
      readonly unique: readonly PrimitiveField[] | undefined
    }
  | {
      readonly kind: 'find'
      readonly into: Slot
      readonly matches: readonly Cell[]
      readonly where: Filter
      readonly order: readonly Order[]
      /** A range of the ordered rows; undefined for all. */
      readonly cut: Cut | undefined
      /** The assertion that fails with fewer than `count` rows. If undefined, later steps on the slot do nothing. */
      readonly assertion: Assertion | undefined
      readonly count: number
      /** The transaction fails if more rows than this are found; then at most one more is kept. */
      readonly most: number | undefined
      /** The item's index in the sent list, for the error. */
      readonly index: number | undefined
      readonly provided: Slot | undefined
      /** If this slot has a row, no row needs to be found. */
      readonly absent: Slot | undefined
      /** `reference`: the row must not be deleted, but others may refer to it and change it concurrently. */
      readonly lock: 'change' | 'reference'
    }
  /** Every row in the slot must exist and meet `where` in its current state. */
  | {
      readonly kind: 'check'
      readonly slot: Slot
      readonly where: Filter
      readonly assertion: Assertion
      readonly action: Action
    }
  /** Copies the rows of the slot that currently meet `where` to another slot. */
  | { readonly kind: 'part'; readonly slot: Slot; readonly into: Slot; readonly where: Filter }
  /** Every row in the slot must currently have these values, or meet `where`. */
  | {
      readonly kind: 'agree'
      readonly slot: Slot
      readonly cells: readonly Cell[]
      readonly where: Filter
      /** Skips the check if this slot has no row. */
      readonly provided: Slot | undefined
      /** Unique among such steps of the program. */
      readonly number: number
      /** The path in the request and the reason, for the error. */
      readonly path: string
      readonly reason: string
    }
  /** `where` must hold for every row in the slot; otherwise the field's new value would be out of range. */
  | { readonly kind: 'range'; readonly slot: Slot; readonly where: Filter; readonly field: PrimitiveField }
  /** Each row in the slot must currently have one of these entity tags, computed from any of the selections. */
  | {
      readonly kind: 'match'
      readonly slot: Slot
      readonly forms: readonly Selection[]
      readonly tags: readonly string[]
    }
  /**
   * The rows of the slot are about to get these cells in the relation's foreign key. A row that meets `where` must exist,
   * except for rows that meet `seen` and keep their reference. Without cells, checks the rows as they are.
   */
  | {
      readonly kind: 'refer'
      readonly slot: Slot
      readonly relation: RelationField
      readonly cells: readonly Cell[]
      readonly where: Filter
      readonly seen: Filter
      readonly assertion: Assertion
    }
  /** Updates all rows of the slot. If `cells` contain key columns, the slot and its parts follow the change. */
  | {
      readonly kind: 'update'
      readonly slot: Slot
      readonly cells: readonly Cell[]
      /** Alterations of columns that no slot keeps. */
      readonly alterations: readonly Alteration[]
      readonly parts: readonly Slot[]
    }
  | { readonly kind: 'delete'; readonly slot: Slot }
  /** The slot must have a row. */
  | { readonly kind: 'require'; readonly slot: Slot; readonly assertion: Assertion }
  /** Answers the rows of the slot, and those of `or`. */
  | { readonly kind: 'answer'; readonly slot: Slot; readonly or?: Slot }

export type WritePlan = CreatePlan | UpdatePlan | DeletePlan | ProgramPlan

/** Operations of one transaction in order; their programs have different slots. */
export type BatchPlan = {
  readonly kind: 'batch'
  readonly operations: readonly PlannedOperation[]
  /** For operations with a shared plan (`batch/form.ts`), by index: the values of its placeholders. */
  readonly values: readonly (OperationValues | undefined)[]
  /** True if its one operation was not sent as a batch, so that errors do not name the operation. */
  readonly isAlone?: boolean
}

/** The parts of the key, and the values of the item. */
export type OperationValues = { readonly key: readonly string[]; readonly item: readonly (string | null)[] }

export type PlannedOperation = {
  readonly plan: Plan
  readonly collection: Collection
  /** True if the transaction fails without an answered item; otherwise any number is answered. */
  readonly isOne: boolean
  /** Existing items, deleted items, or nothing. */
  readonly answers: 'items' | 'deleted' | 'nothing'
  /** Which of the rows the caller may read, if the selection does not contain this condition. */
  readonly readable: Filter
}

export type Plan = ReadPlan | WritePlan
