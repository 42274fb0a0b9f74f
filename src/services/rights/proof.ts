/**
 * Rights that others give an account count only once its owner has proven access to the mailbox of its address, since
 * somebody else may have created it (docs/decisions/045). Accounts without that proof predate the rule.
 */
import { ServiceError } from '../../core/error.ts'

/** Throws 409 for an account whose address is not proven; a service account counts as proven if its owner is. */
export function requireProven({ isProven }: { readonly isProven: boolean }): void {
  if (isProven) return
  throw new ServiceError(
    'conflict',
    'The e-mail address of this account is not verified: reset its password by mail, or accept an invitation with the mailed token, before granting rights to it',
  )
}
