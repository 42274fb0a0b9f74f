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
    'Nobody has proven to read the mail of this account: its password has to be reset by mail, or an invitation accepted by the mailed token, before it is given anything',
  )
}
