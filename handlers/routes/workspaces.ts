/** `/api/system/workspaces` (docs/contract.md#data-model). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import { workspaceNameSchema } from '../../src/core/model/api-name.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { identify } from '../http/context.ts'
import type { App } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { lineSchema } from '../http/schemas.ts'

const displayName = lazily(() => lineSchema().nullable())
export const createBody = lazily(() =>
  z.strictObject({ apiName: workspaceNameSchema(), displayName: displayName().optional() }),
)
export const updateBody = lazily(() => z.strictObject({ displayName: displayName() }))

export function mountWorkspaces(app: App, services: Services): void {
  const { workspaces } = services

  mountResource(app, {
    path: '/api/system/workspaces',
    scopeOf: (c) => identify(services, c),
    list: workspaces.list,
    create: { body: createBody, run: workspaces.create },
    one: {
      key: byId('Workspace'),
      read: workspaces.read,
      update: { body: updateBody, run: workspaces.update },
      delete: workspaces.delete,
    },
  })
}
