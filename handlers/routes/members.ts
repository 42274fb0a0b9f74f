/** `/api/{workspace}/members` (docs/contract.md#policies). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { idOf, idsSchema, listQuery } from '../http/schemas.ts'

export const updateBody = lazily(() =>
  z.strictObject({
    roles: idsSchema().optional(),
    status: z.enum(['active', 'suspended'], "must be 'active' or 'suspended'").optional(),
  }),
)

export function mountMembers(app: App, services: Services): void {
  const { members } = services

  mount(
    app,
    '/api/:workspace/members',
    {
      GET: async (c) => {
        const { data, total } = await members.list(await authorize(services, c), () => listQuery(c))
        return dataText(data, total)
      },
    },
    { strictQuery: ['GET'] },
  )

  mount(app, '/api/:workspace/members/:id', {
    PATCH: async (c) =>
      dataText(await members.update(await authorize(services, c), idOf(c, 'Member'), () => readBody(c, updateBody))),
    DELETE: async (c) => {
      await members.delete(await authorize(services, c), idOf(c, 'Member'))
      return noContent()
    },
  })
}
