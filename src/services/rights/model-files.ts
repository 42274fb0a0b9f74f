/**
 * The model of a workspace as a file (docs/contract.md#the-model-as-a-file). What does the work is loaded with the first
 * request for it (decision 036).
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import type { RequestScope } from '../caller/callers.ts'
import { isLong, queuedFor } from '../caller/queued-requests.ts'
import type { ModelFileDeps } from './model-file/deps.ts'

export type ModelFiles = {
  /** The canonical text; requires dataModel:read (403), roles and policies are told with workspaceMembers:read. */
  read(scope: RequestScope, options: { readonly hasIds: boolean }): Promise<string>
  /** What `apply` would do, of a body `{model}`; the same rights, workspaceMembers:read for roles and policies. */
  plan(scope: RequestScope, body: string): Promise<object>
  /**
   * Applies a body `{model, plan, allow?}` as it was planned. Throws 403 beyond the caller's rights, 409 where something has moved
   * since or a source has to be introspected first, 422 where it would destroy data that nobody allowed it to.
   */
  apply(scope: RequestScope, body: string): Promise<object>
  /** The text of the JSON Schema of files. */
  schema(): Promise<string>
}

export type ModelFilesDeps = ModelFileDeps

export function createModelFiles(deps: ModelFilesDeps): ModelFiles {
  const load = () => import('./model-file/use-cases.ts')
  return {
    read: async (scope, options) => (await load()).readFile(deps, scope, options),
    plan: async (scope, body) => (await load()).answerPlan(deps, scope, body),
    // A file may be long, and is waited with for the lock of the model.
    apply: async (scope, body) => {
      requireEntitlement(scope.rights, 'dataModel:read')
      const { applyFile } = await load()
      return deps.queues.changes.run({ ...queuedFor(scope), isLarge: isLong(body) }, () => applyFile(deps, scope, body))
    },
    schema: async () => (await load()).schemaText(),
  }
}
