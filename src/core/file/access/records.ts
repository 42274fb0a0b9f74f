/** Roles and policies of a workspace as they are stored: contents by id. */
import type { PolicyContent } from '../../access/policy.ts'

export type RoleRecord = {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly kind: 'public' | 'custom'
  readonly policyIds: readonly string[]
}

export type PolicyRecord = {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly content: PolicyContent
}

export type AccessRecords = { readonly roles: readonly RoleRecord[]; readonly policies: readonly PolicyRecord[] }
