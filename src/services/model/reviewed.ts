/**
 * Holds what somebody has seen before they agreed to it to what it was seen under (docs/contract.md#migrations): a dry run, or a call of
 * the assistant, has a plan, and what is sent with it is done under the same model, and the same schema of a source, or not at all.
 */
import { codedError } from '../../core/error.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'

/** Hexadecimal digits. */
const LENGTH = 24

/** Returns the plan of what is seen under this version of the model; `schema` is the digest of what would be imported. */
export async function planOn({ id }: WorkspaceRow, version: number, schema = ''): Promise<string> {
  return (await sha256Hex(`${id} ${version} ${schema}`)).slice(0, LENGTH)
}

/** Throws 409 with code 4094 where there is a plan, and it is another than that of this version of the model; `schema` as in `planOn`. */
export async function requirePlan(
  { workspace, plan }: Pick<RequestScope, 'workspace' | 'plan'>,
  version: number,
  schema?: string,
): Promise<void> {
  if (plan !== undefined && plan !== (await planOn(workspace, version, schema))) throw codedError('4094')
}
