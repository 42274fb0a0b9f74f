/** `/api/system/workspaces` (docs/contract.md#data-model). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import { workspaceNameSchema } from '../../src/core/model/api-name.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identify } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { idOf, itemQuery, listQuery, textSchema } from '../http/schemas.ts'

const displayName = lazily(() => textSchema(200).nullable())
export const createBody = lazily(() =>
  z.strictObject({ apiName: workspaceNameSchema(), displayName: displayName().optional() }),
)
export const updateBody = lazily(() => z.strictObject({ displayName: displayName() }))

export function mountWorkspaces(app: App, services: Services): void {
  const { workspaces } = services

  mount(
    app,
    '/api/system/workspaces',
    {
      GET: async (c) => {
        const list = await workspaces.list(await identify(services, c), () => listQuery(c))
        return dataText(list.data, list.total)
      },
      POST: async (c) => data(await workspaces.create(await identify(services, c), () => readBody(c, createBody)), 201),
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/system/workspaces/:id',
    {
      GET: async (c) =>
        dataText(await workspaces.read(await identify(services, c), idOf(c, 'Workspace'), () => itemQuery(c))),
      PATCH: async (c) =>
        dataText(
          await workspaces.update(await identify(services, c), idOf(c, 'Workspace'), () => readBody(c, updateBody)),
        ),
      DELETE: async (c) => {
        await workspaces.delete(await identify(services, c), idOf(c, 'Workspace'))
        return noContent()
      },
    },
    { strictQuery: ['GET'] },
  )
}
