/**
 * Holds a change of the model to the dry run that somebody has reviewed (docs/contract.md#migrations): the dry run answers
 * a plan, and the change that is sent with it is made of the same model, and the same schema of a source, or not at all.
 */
import { codedError } from '../../core/error.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { sha256Hex } from '../caller/digest.ts'

/** Hexadecimal digits. */
const LENGTH = 24

/** Returns the plan of a dry run on this version of the model; `schema` is the digest of what would be imported. */
export async function planOn({ id }: WorkspaceRow, version: number, schema = ''): Promise<string> {
  return (await sha256Hex(`${id} ${version} ${schema}`)).slice(0, LENGTH)
}

/** Throws 409 with code 4094 where a plan was sent and is another one; `now` is asked only then. */
export async function requirePlan(sent: string | undefined, now: () => Promise<string>): Promise<void> {
  if (sent !== undefined && sent !== (await now())) throw codedError('4094')
}
