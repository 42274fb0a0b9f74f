/**
 * The model of a workspace as a file (docs/contract.md#the-model-as-a-file). The implementation is loaded on the first request
 * (decision 036).
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import type { RequestScope } from '../caller/callers.ts'
import { isLong, queuedFor } from '../caller/queued-requests.ts'
import type { ModelFileDeps } from './model-file/deps.ts'

export type ModelFiles = {
  /** Returns the canonical text; requires dataModel:read (403). Roles and policies are included with workspaceMembers:read. */
  read(scope: RequestScope, options: { readonly hasIds: boolean }): Promise<string>
  /** Returns what `apply` would do with `{model}`; same rights, workspaceMembers:read for roles and policies. */
  plan(scope: RequestScope, body: string): Promise<object>
  /**
   * Applies a body `{model, plan, allow?}` as planned. Throws 403 beyond the caller's rights, 409 if the state has changed
   * since the plan or a source must be introspected first, and 422 if it would destroy data without permission.
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
    // A long file takes memory while it waits for the lock of the model.
    apply: async (scope, body) => {
      requireEntitlement(scope.rights, 'dataModel:read')
      const { applyFile } = await load()
      return deps.queues.changes.run({ ...queuedFor(scope), isLarge: isLong(body) }, () => applyFile(deps, scope, body))
    },
    schema: async () => (await load()).schemaText(),
  }
}
