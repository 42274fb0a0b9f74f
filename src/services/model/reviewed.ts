/**
 * Optimistic locking of reviewed changes (docs/contract.md#migrations): a dry run, or a call of the assistant, returns a plan.
 * A request with that plan runs only under the same model, and the same schema of a source.
 */
import { codedError } from '../../core/error.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'

/** Hexadecimal digits. */
const LENGTH = 24

/** Returns the plan for this version of the model; `schema` is the digest of the schema that would be imported. */
export async function planOn({ id }: WorkspaceRow, version: number, schema = ''): Promise<string> {
  return (await sha256Hex(`${id} ${version} ${schema}`)).slice(0, LENGTH)
}

/** Throws 409 with code 4094 if the request has a plan that is not of this version of the model; `schema` as in `planOn`. */
export async function requirePlan(
  { workspace, plan }: Pick<RequestScope, 'workspace' | 'plan'>,
  version: number,
  schema?: string,
): Promise<void> {
  if (plan !== undefined && plan !== (await planOn(workspace, version, schema))) throw codedError('4094')
}
