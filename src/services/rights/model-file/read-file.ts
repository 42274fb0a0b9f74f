/** The model of a workspace as the canonical text of a file. */
import { hasEntitlement, requireEntitlement } from '../../../core/access/principal.ts'
import { exportAccess } from '../../../core/file/export/access.ts'
import { exportModel } from '../../../core/file/export/model.ts'
import { inOrder } from '../../../core/file/file.ts'
import { exportNames } from '../../../core/file/presentation/names.ts'
import { printModelFile } from '../../../core/file/print.ts'
import { inParts } from '../../../sources/in-parts.ts'
import { loadAccessRecords } from '../../../store/access-records.ts'
import { loadNames } from '../../../store/presentation.ts'
import { type RequestScope, requireStill } from '../../caller/callers.ts'
import { ofWholeModel } from '../../caller/queued-requests.ts'
import type { ModelFileDeps } from './deps.ts'

export async function readFile(
  { ports, models, queues }: Pick<ModelFileDeps, 'ports' | 'models' | 'queues'>,
  scope: RequestScope,
  { hasIds }: { readonly hasIds: boolean },
): Promise<string> {
  const { workspace, snapshot, rights } = scope
  requireEntitlement(rights, 'dataModel:read')
  const model = await models.load(workspace, snapshot.modelVersion)
  const text = await ofWholeModel(queues.documents, { scope, model }, async () => {
    const file = await inParts(exportModel(model, workspace.apiName))
    const isWhole = hasEntitlement(rights, 'workspaceMembers:read')
    const access = isWhole ? exportAccess(await loadAccessRecords(ports.database, workspace.id), model) : undefined
    const names = exportNames(await loadNames(ports.database, workspace.apiName), model)
    const ids = hasIds ? inOrder([...file.ids, ...(access?.ids ?? [])]) : []
    return inParts(printModelFile({ ...file, names, ...access, ids: new Map(ids) }))
  })
  await requireStill(scope, 'dataModel:read')
  return text
}
