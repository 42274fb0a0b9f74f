/**
 * Whose account somebody enters whom a provider vouches for (docs/decisions/018). Whoever was here before is known by
 * issuer and subject and by nothing else; for all others the address decides, and only one that the provider has verified.
 */

/** What a provider says of somebody. `email` is a verified address; undefined where there is none. */
export type Profile = {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  readonly fullName: string | undefined
}

export type AccountStatus = 'active' | 'suspended'

export type SignInFacts = {
  /** Whose account this issuer and subject have entered before. */
  readonly known: { readonly userId: string; readonly status: AccountStatus } | null
  /** The account of the verified address. */
  readonly account: {
    readonly userId: string
    readonly status: AccountStatus
    readonly isService: boolean
    readonly isAdministrator: boolean
    /** Somebody has shown to read the mail of its address. */
    readonly isProven: boolean
    /** Another subject of the same issuer has entered it before. */
    readonly isTaken: boolean
  } | null
  /** Whether the verified address is invited somewhere, or everybody may join. */
  readonly mayJoin: boolean
}

export type SignIn =
  | { readonly kind: 'enter'; readonly userId: string }
  /** The account becomes theirs; `isCleared` where it has to be taken from whoever else may have a way into it. */
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
  // A provider that is deceived about an address must not give away the whole instance.
  if (isAdministrator) return refuse
  // Addresses are given to other people in time, subjects never are.
  if (isTaken) return refuse
  return { kind: 'link', userId, email, isCleared: !isProven }
}
