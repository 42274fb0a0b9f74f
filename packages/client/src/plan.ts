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

export type Right = { role: string; policy: string; collection?: string; action?: string; entitlement?: string }
