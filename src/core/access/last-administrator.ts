/**
 * Decides whether a change would leave a workspace or the instance without an administrator. Only people who can act now count,
 * so not service accounts, suspended accounts and invited accounts.
 */

/** A member of a workspace. */
export type MemberFacts = {
  /** Set for a service account; null for a person. */
  readonly ownerId: string | null
  readonly status: 'active' | 'suspended'
  readonly roles: readonly { readonly kind: string }[]
  /** How many other people are active Administrators. */
  readonly otherAdministrators: number
}

/** An account of the instance. */
export type AccountFacts = {
  readonly isService: boolean
  readonly isAdministrator: boolean
  readonly status: 'active' | 'suspended'
  readonly otherAdministrators: number
}

/** Returns true if this member is the only active Administrator of the workspace. */
export function isLastAdministrator({ ownerId, status, roles, otherAdministrators }: MemberFacts): boolean {
  return ownerId === null && status === 'active' && roles.some(isAdministrator) && otherAdministrators === 0
}

/** Returns true if this account is the only active administrator of the instance. */
export function isLastInstanceAdministrator({
  isService,
  isAdministrator,
  status,
  otherAdministrators,
}: AccountFacts): boolean {
  return !isService && isAdministrator && status === 'active' && otherAdministrators === 0
}

export function isAdministrator({ kind }: { readonly kind: string }): boolean {
  return kind === 'administrator'
}
