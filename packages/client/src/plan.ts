/** How a model file differs from its workspace, and what an apply would do (docs/api.md#the-model-as-a-file). */

export type Plan = {
  /** Its digest, by which an apply knows that nothing moved since. */
  plan: string
  changes: Change[]
  operations: { kind: string; data: object }[]
  statements: { sourceId: string; sql: string }[]
  access: { granted: Right[]; revoked: Right[] }
  /** `rows`: how many lose something now; null where the caller may not know. `holders` of a role or policy that goes. */
  destructive: { operation: number; path: string; rows: number | null; holders?: number }[]
  /** Entitlements that the caller lacks to apply it. */
  missing: string[]
  /** What writes by itself what policies compare that the file adds or changes. */
  warnings: { kind: 'action' | 'default'; field: string; by: string; message: string }[]
}

/** `from` and `to` as they stand in the file, of a rename the names. */
export type Change = { action: 'create' | 'change' | 'rename' | 'delete'; path: string; from?: unknown; to?: unknown }

/** What a migration would do. `changes` as of a plan. */
export type DryRun = {
  readonly statements: readonly { readonly sourceId: string; readonly sql: string }[]
  readonly model: object
  /** What `migrate` is sent with to be made of this model alone. */
  readonly plan: string
  readonly changes: readonly Change[]
  readonly rows: readonly TouchedRows[]
  readonly breaks: Breaks
  /** The operations that lead back to the model of now; null where that cannot be promised. */
  readonly inverse: readonly { readonly kind: string; readonly data: object }[] | null
  /** Whether they lead back to the data of now as well. */
  readonly restoresData: boolean
}

/** `rows` is null where the caller may not know, or it cannot be told; `isAtLeast` where no more of them are counted. */
export type TouchedRows = {
  readonly collection: string
  readonly rows: number | null
  readonly isAtLeast?: true
  /** Whether values of theirs are gone afterwards. */
  readonly destroys: boolean
}

type Called = { readonly id: string; readonly name: string }

/** Null is what the caller may not know. Policies mean something else; views and access tests name what goes, or would fail. */
export type Breaks = {
  readonly policies: readonly Called[] | null
  readonly views: readonly Called[] | null
  readonly tests: readonly Called[] | null
}

export type Right = { role: string; policy: string; collection?: string; action?: string; entitlement?: string }
