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

/** A term of an order: a field of the row, or of the one row that a path of to-one relations leads to. */
export type Order = FieldRef & {
  readonly path: readonly PathStep[]
  readonly direction: 'asc' | 'desc'
  readonly nulls: 'first' | 'last'
  /** Requested by the caller, or added to make the order total. */
  readonly origin: 'requested' | 'tie'
}

/** A to-one relation on the way to a field, and the rows of its target that the caller sees. */
export type PathStep = { readonly relation: RelationField; readonly visible: Filter; readonly rows: Filter }

/** The selected fields of each row, in the requested order. */
export type Selection = readonly Selected[]

export type Selected = SelectedField | SelectedTag | SelectedRelation | SelectedAggregates

/** Related rows: `page` is the page per parent of a to-many relation, `aggregates` are over all of them. */
export type SelectedRelation = Behind & {
  readonly kind: 'relation'
  readonly selection: Selection
  readonly page: Page | undefined
  readonly aggregates?: readonly Aggregate[]
}

/** Aggregates of related rows, of which none is shown. */
export type SelectedAggregates = Behind & { readonly kind: 'aggregates'; readonly aggregates: readonly Aggregate[] }

type Behind = {
  readonly name: string
  readonly relation: RelationField
  readonly visible: Filter
  /** Of a many-to-many field, the rows of its junction that count. */
  readonly links?: Filter
  /** The related rows that the caller sees. */
  readonly where: Filter
}

export type SelectedField = FieldRef & { readonly kind: 'field'; readonly name: string }

/** The tag of the row as `shown` has it: what its reader sees, whatever else is selected. */
export type SelectedTag = {
  readonly kind: 'tag'
  readonly name: string
  readonly visible: Filter
  readonly shown: readonly SelectedField[]
}

/** A value over rows: how many there are, or what a function makes of a field of theirs. */
export type Aggregate = { readonly output: PrimitiveField } & (
  | { readonly function: 'rows' }
  | (FieldRef & { readonly function: AggregateFunction })
)

/** A value by which rows are grouped: that of a field, also of one behind to-one relations, or what it is truncated to. */
export type Group = FieldRef & {
  readonly output: PrimitiveField
  /** The relations on the way to the field, outermost first. */
  readonly path: readonly PathStep[]
  readonly truncation: Truncation | undefined
}

export type Truncation = { readonly unit: TruncationUnit; readonly zone: TimeZone }

/** Minutes east of UTC, or a name of the database's. */
export type TimeZone =
  | { readonly kind: 'offset'; readonly minutes: number }
  | { readonly kind: 'named'; readonly name: string; readonly path: string }

/** Rows of a collection as groups, each with its aggregates; without `groups` all rows are one. */
export type Grouping = {
  readonly collection: Collection
  readonly where: Filter
  readonly groups: readonly Group[]
  readonly aggregates: readonly Aggregate[]
}

export type Page = Cut & { readonly order: readonly Order[]; readonly walk?: Walk }

/** A page that begins behind a cursor, or ends before it, or tells the cursors of the pages beside it. */
export type Walk = {
  /** Names the order in cursors. */
  readonly digest: string
  readonly direction: 'forward' | 'backward'
  /** The cursor's value for each term of the order; undefined for a page without a cursor. */
  readonly start: readonly (Operand | null)[] | undefined
  /** The cursor as it was sent, which an empty page gives back. */
  readonly sentCursor: Operand | undefined
  /** The parameter that a cursor was sent in. */
  readonly place: string
  readonly withCursors: boolean
}

export type Cut = { readonly limit: number; readonly offset: number }

export type ReadPlan = {
  readonly kind: 'read'
  readonly collection: Collection
  readonly selection: Selection
  readonly where: Filter
  /** Of a list, only the rows whose `field` has one of these values: those that relations from another source lead to. */
  readonly keys?: { readonly field: PrimitiveField; readonly values: readonly string[] }
  /** Undefined if one item is read by its key. */
  readonly page: Page | undefined
  /** Also count all matching rows. */
  readonly count: boolean
  /** Also tell about how many match: by the planner where that tells of no hidden row, else as far as can be counted. */
  readonly estimate?: 'planned' | 'counted'
  /** Where the rows are groups: `collection` then has their outputs for its fields, and `where` is asked of the groups. */
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
  /** Of the rows that are answered. */
  readonly order: readonly Order[]
  readonly assignments: readonly Assignment<Operand>[]
  readonly selection: Selection
}

export type DeletePlan = {
  readonly kind: 'delete'
  readonly collection: Collection
  readonly where: Filter
  /** Of the rows that are answered. */
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

/** A column's value: a text, or a column of a row in a slot of the same transaction, null where there is none. */
export type Cell = {
  readonly field: PrimitiveField
  readonly value:
    | { readonly kind: 'text'; readonly text: Operand | null }
    | {
        readonly kind: 'kept'
        readonly slot: Slot
        readonly field: PrimitiveField
        /** Its place in the slot; the first where absent. */
        readonly row?: number
        /** The slot that has the row where the other one has none. */
        readonly or?: Slot
      }
}

/** What becomes of the value that a column has; null stays null. `text` is the operand, of a list the text of a list. */
export type Alteration = {
  readonly field: PrimitiveField
  readonly operator: '_increment' | '_append' | '_remove'
  readonly text: string
}

/**
 * What ends a transaction; each assertion has its own error (docs/contract.md#how-policies-act). `left`: an item would be
 * none any more that the caller may update. `lost`: it is not found any more by the key that it was given.
 */
export type Assertion = 'noRecord' | 'noReference' | 'noValue' | 'forbidden' | 'left' | 'invalid' | 'changed' | 'lost'

/** An assertion that has failed, and what its error tells of it. */
export type Unmet =
  /** `number` is that of the step. */
  | { readonly assertion: 'differs'; readonly number: number }
  /** `index` is the place in the list that was sent of the item that is not there. */
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
      /** The fields of the unique index by which `absent` was looked for. */
      readonly unique: readonly PrimitiveField[] | undefined
    }
  | {
      readonly kind: 'find'
      readonly into: Slot
      readonly matches: readonly Cell[]
      readonly where: Filter
      readonly order: readonly Order[]
      /** Which of the rows in their order; undefined for all. */
      readonly cut: Cut | undefined
      /** The assertion that fails with fewer than `count` rows; undefined: later steps on the slot then do nothing. */
      readonly assertion: Assertion | undefined
      readonly count: number
      /** The transaction fails where more rows than this are found, of which it then keeps one more at most. */
      readonly most: number | undefined
      /** Where the item stands in the list that was sent, for the error. */
      readonly index: number | undefined
      readonly provided: Slot | undefined
      /** Where this slot has a row, none has to be found. */
      readonly absent: Slot | undefined
      /** `reference`: the row must not be deleted, but others may refer to it and change it concurrently. */
      readonly lock: 'change' | 'reference'
    }
  /** Every row in the slot must be there, and `where` hold for it, in its current state. */
  | {
      readonly kind: 'check'
      readonly slot: Slot
      readonly where: Filter
      readonly assertion: Assertion
      readonly action: Action
    }
  /** Keeps the rows of the slot that meet `where`, in their current state, in another one. */
  | { readonly kind: 'part'; readonly slot: Slot; readonly into: Slot; readonly where: Filter }
  /** Every row in the slot, in its current state, must have these values already, or meet `where`. */
  | {
      readonly kind: 'agree'
      readonly slot: Slot
      readonly cells: readonly Cell[]
      readonly where: Filter
      /** Nothing is asked if this slot has no row. */
      readonly provided: Slot | undefined
      /** No other such step of the program has it. */
      readonly number: number
      /** The place in the request, and what is wrong there otherwise. */
      readonly path: string
      readonly reason: string
    }
  /** `where` must hold for every row in the slot, or else the field cannot take what is to come. */
  | { readonly kind: 'range'; readonly slot: Slot; readonly where: Filter; readonly field: PrimitiveField }
  /** Each row in the slot, in its current state, must have one of these tags: of what one of the selections shows of it. */
  | {
      readonly kind: 'match'
      readonly slot: Slot
      readonly forms: readonly Selection[]
      readonly tags: readonly string[]
    }
  /**
   * The rows of the slot are about to get these cells in the relation's foreign key. A row that meets `where` must exist,
   * but for those of the slot that meet `seen` and keep the reference that they have. Without cells, the rows are checked as they are.
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
      /** Of columns that no slot keeps. */
      readonly alterations: readonly Alteration[]
      readonly parts: readonly Slot[]
    }
  | { readonly kind: 'delete'; readonly slot: Slot }
  /** The slot must have a row. */
  | { readonly kind: 'require'; readonly slot: Slot; readonly assertion: Assertion }
  /** The rows of the slot, and those of another one where either has some. */
  | { readonly kind: 'answer'; readonly slot: Slot; readonly or?: Slot }

export type WritePlan = CreatePlan | UpdatePlan | DeletePlan | ProgramPlan

/** Operations of one transaction in their order; their programs have different slots. */
export type BatchPlan = {
  readonly kind: 'batch'
  readonly operations: readonly PlannedOperation[]
  /** Of operations whose plan serves all of their form (`batch/form.ts`), by index: the values of its placeholders. */
  readonly values: readonly (OperationValues | undefined)[]
  /** Whether its one operation was asked for by itself, so that nothing names it. */
  readonly isAlone?: boolean
}

/** The parts of the key, and the values of the item. */
export type OperationValues = { readonly key: readonly string[]; readonly item: readonly (string | null)[] }

export type PlannedOperation = {
  readonly plan: Plan
  readonly collection: Collection
  /** Whether the transaction fails where it answers no item; any number is answered otherwise. */
  readonly isOne: boolean
  /** Items that are there, those that it has deleted, or nothing at all. */
  readonly answers: 'items' | 'deleted' | 'nothing'
  /** Which of its rows the caller may read at all, where the selection does not say so. */
  readonly readable: Filter
}

export type Plan = ReadPlan | WritePlan
