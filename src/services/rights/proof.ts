/**
 * What is given to an account by others counts only where somebody has shown to read the mail of its address, since whoever set
 * it up may be another one (docs/decisions/045). Accounts without that proof are from before it was asked for.
 */
import { ServiceError } from '../../core/error.ts'

/** Throws 409 for an account of which nobody has proven the address; of a service account, its owner's. */
export function requireProven({ isProven }: { readonly isProven: boolean }): void {
  if (isProven) return
  throw new ServiceError(
    'conflict',
    'The e-mail address of this account is not verified: reset its password by mail, or accept an invitation with the mailed token, before granting rights to it',
  )
}
