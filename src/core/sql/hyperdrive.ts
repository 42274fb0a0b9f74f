/**
 * Hyperdrive bindings of a Worker that data sources may use: a binding holds the credentials of its database, so only
 * those that the operator lists, each for the listed workspaces or, without a list, for all.
 */
import * as z from 'zod'
import { lazily } from '../lazily.ts'
import { configFault, type SqlTarget } from './address.ts'

export type Hyperdrive = { readonly binding: string; readonly workspaces?: readonly string[] | undefined }

export const hyperdrivesSchema = lazily(() =>
  z.array(z.strictObject({ binding: z.string().min(1), workspaces: z.array(z.string()).optional() })),
)

/** Also the error for a binding that does not exist, so that it does not reveal which bindings exist. */
export const NOT_A_BINDING = 'is not a Hyperdrive binding that this workspace may use'

/** Throws ServiceError `invalid` if the workspace may not use the source's binding. */
export function requireHyperdrive(target: SqlTarget, listed: readonly Hyperdrive[], workspace: string): void {
  if (!('hyperdrive' in target)) return
  const known = listed.find(({ binding }) => binding === target.hyperdrive)
  if (known === undefined || known.workspaces?.includes(workspace) === false) {
    throw configFault('hyperdrive', NOT_A_BINDING)
  }
}
