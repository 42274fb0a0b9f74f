/**
 * Decides which account an external identity signs in to (docs/decisions/018). A known identity is found by issuer and
 * subject only; a new one by its e-mail address, which the provider must have verified.
 */

/** The identity that a provider asserts. `email` is a verified address; undefined without one. */
export type Profile = {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  readonly fullName: string | undefined
}

export type AccountStatus = 'active' | 'suspended'

export type SignInFacts = {
  /** The account linked with this issuer and subject. */
  readonly known: { readonly userId: string; readonly status: AccountStatus } | null
  /** The account with the verified address. */
  readonly account: {
    readonly userId: string
    readonly status: AccountStatus
    readonly isService: boolean
    readonly isAdministrator: boolean
    /** The owner has proven access to the mailbox of the address. */
    readonly isProven: boolean
    /** Another subject of the same issuer is already linked with the account. */
    readonly isTaken: boolean
  } | null
  /** The verified address has an invitation, or everybody may join. */
  readonly mayJoin: boolean
}

export type SignIn =
  | { readonly kind: 'enter'; readonly userId: string }
  /**
   * Links the identity with the account. `isCleared`: existing credentials of the account are removed first, because
   * somebody else may hold them.
   */
  | { readonly kind: 'link'; readonly userId: string; readonly email: string; readonly isCleared: boolean }
  | { readonly kind: 'create'; readonly email: string }
  | { readonly kind: 'refuse' }

const refuse: SignIn = { kind: 'refuse' }

export function decideSignIn({ email }: Profile, { known, account, mayJoin }: SignInFacts): SignIn {
  if (known !== null) return known.status === 'active' ? { kind: 'enter', userId: known.userId } : refuse
  if (email === undefined) return refuse
  if (account === null) return mayJoin ? { kind: 'create', email } : refuse
  const { userId, status, isService, isAdministrator, isProven, isTaken } = account
  if (status !== 'active' || isService) return refuse
  // A provider tricked into verifying an address must not give access to the whole instance.
  if (isAdministrator) return refuse
  // E-mail addresses can be reassigned to other people; subjects never are.
  if (isTaken) return refuse
  return { kind: 'link', userId, email, isCleared: !isProven }
}
