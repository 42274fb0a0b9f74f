/** The account that sends a request, and what depends on the account alone. Its rights in a workspace are separate. */
import type { Rights } from '../../core/access/principal.ts'
import { allowsAddress, type KeyScope } from '../../core/access/scope.ts'
import { ServiceError } from '../../core/error.ts'
import type { Credential } from '../../store/principal-state.ts'

export type Caller =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'user'
      readonly userId: string
      /** Set for a service account. */
      readonly ownerId: string | undefined
      /** Administrator of the instance, without a key whose scope limits rights. */
      readonly isAdministrator: boolean
      readonly credential: { readonly kind: 'session' | 'key'; readonly id: string }
      /** Scope of the presented key. */
      readonly scope?: KeyScope | undefined
    }

/** A credential in the form in which it is looked up. */
export type Presented = Exclude<Credential, { readonly kind: 'user' }>

/** Returns the caller's credential for a look-up; 403 for the anonymous caller. */
export function requestCredentialOf(caller: Caller): Presented {
  const presented = presentedBy(caller)
  if (presented === undefined) throw new ServiceError('forbidden', 'Requires a signed-in user')
  return presented
}

/** Returns the caller's credential for a look-up; undefined for the anonymous caller. */
export function presentedBy(caller: Caller): Presented | undefined {
  return caller.kind === 'user' ? { ...caller.credential, userId: caller.userId } : undefined
}

/** Throws 403 for a key whose scope excludes the client's address. */
export function requireAllowedAddress(caller: Caller, addressOf: () => string | undefined): void {
  if (caller.kind !== 'user' || caller.scope?.addresses === undefined) return
  if (!allowsAddress(caller.scope, addressOf())) {
    throw new ServiceError('forbidden', 'The scope of this key does not include this client address')
  }
}

/** Returns the id of the person behind the caller, for a service account its owner; undefined for the anonymous caller. */
export function personOf(caller: Caller): string | undefined {
  return caller.kind === 'user' ? (caller.ownerId ?? caller.userId) : undefined
}

/** Returns the id of the signed-in user; 403 for the anonymous caller. */
export function requireUser(caller: Caller): string {
  return requestCredentialOf(caller).userId
}

/** Returns the id of a signed-in person; throws 403 for the anonymous caller and for a service account. */
export function requirePerson(caller: Caller): string {
  const userId = requireUser(caller)
  if (caller.kind === 'user' && caller.ownerId === undefined) return userId
  throw new ServiceError('forbidden', 'A service account cannot change itself')
}

/** Returns the id of the caller's session; undefined for a key. */
export function sessionOf(caller: Caller): string | undefined {
  return caller.kind === 'user' && caller.credential.kind === 'session' ? caller.credential.id : undefined
}

/** Returns true for administrators of the instance. */
export function isAdministrator(caller: Caller): boolean {
  return caller.kind === 'user' && caller.isAdministrator
}

/** Returns true for administrators of the instance, and for those of the workspace whose rights these are. */
export function isAdministratorIn(caller: Caller, rights: Rights): boolean {
  return rights.kind === 'all' || isAdministrator(caller)
}

/**
 * Throws 403 if the caller is a service account and `target` is that account, its owner or another account of its owner:
 * otherwise an owner could change their own rights through a service account.
 */
export function requireAnothers(
  caller: Caller,
  target: { readonly id: string; readonly ownerId?: string | null },
): void {
  if (caller.kind !== 'user' || caller.ownerId === undefined) return
  const own: readonly (string | null | undefined)[] = [caller.userId, caller.ownerId]
  if (!own.includes(target.id) && target.ownerId !== caller.ownerId) return
  throw new ServiceError(
    'forbidden',
    'A service account cannot change itself, its owner, or other accounts of its owner',
  )
}

/** Throws 403 unless the caller is administrator of the instance. */
export function requireAdministrator(caller: Caller): void {
  requireUser(caller)
  if (!isAdministrator(caller)) {
    throw new ServiceError('forbidden', 'Requires an administrator of the instance')
  }
}
