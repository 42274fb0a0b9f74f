/** Opens a collection for a caller: what they may do with it, the limits of a request, and its source. */
import type { Action } from '../../core/access/access.ts'
import type { Model } from '../../core/model/model.ts'
import { openCollection } from '../../core/plan/names.ts'
import type { PageLimits, PlanInList, ReadContext } from '../../core/plan/read.ts'
import type { Source } from '../../sources/source.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { Viewers } from './plan-cache.ts'

/** What a plan is made of, and the source that runs it. Throws 404 and 403 as every request for items does. */
export type OpenItems = (
  model: Model,
  scope: RequestScope,
  name: string,
  action: Action,
) => ReadContext & { readonly source: Source }

export type OpenItemsDeps = {
  readonly viewers: Viewers
  readonly limits: PageLimits
  readonly maxRows: number
  readonly openSource: (workspace: WorkspaceRow, model: Model, sourceId: string) => Source
  /** What plans aggregates in lists, where a request has loaded it. */
  readonly planInList: () => PlanInList | undefined
}

export function createOpenItems(deps: OpenItemsDeps): OpenItems {
  const { viewers, limits, maxRows, openSource, planInList } = deps

  return (model, { rights, workspace, spent }, name, action) => {
    const viewer = viewers.of(rights, model)
    const { collection, access } = openCollection(model, viewer, name, action)
    const source = openSource(workspace, model, collection.sourceId)
    return { viewer, collection, access, limits, maxRows, spent, planInList: planInList(), source }
  }
}
