/**
 * Whether a workspace or the instance would be left without anybody who can administer it. People count who can act at
 * this moment: not service accounts, nor whoever is suspended, nor whoever is only invited.
 */

/** A member of a workspace. */
export type MemberFacts = {
  /** Of a service account; null for a person. */
  readonly ownerId: string | null
  readonly status: 'active' | 'suspended'
  readonly roles: readonly { readonly kind: string }[]
  /** How many other people can act as Administrator. */
  readonly otherAdministrators: number
}

/** An account of the instance. */
export type AccountFacts = {
  readonly isService: boolean
  readonly isAdministrator: boolean
  readonly status: 'active' | 'suspended'
  readonly otherAdministrators: number
}

/** Whether nobody else administers the workspace but this member. */
export function isLastAdministrator({ ownerId, status, roles, otherAdministrators }: MemberFacts): boolean {
  return ownerId === null && status === 'active' && roles.some(isAdministrator) && otherAdministrators === 0
}

/** Whether nobody else administers the instance but this account. */
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
