/** `/api/{workspace}/roles` (docs/contract.md#policies). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { createdText, dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { descriptionSchema, idOf, idsSchema, itemQuery, listQuery, nameSchema } from '../http/schemas.ts'

export const createBody = lazily(() =>
  z.strictObject({
    name: nameSchema(),
    description: descriptionSchema().default(null),
    policies: idsSchema().default([]),
  }),
)

export const updateBody = lazily(() =>
  z.strictObject({
    name: nameSchema().optional(),
    description: descriptionSchema().optional(),
    policies: idsSchema().optional(),
  }),
)

export function mountRoles(app: App, services: Services): void {
  const { roles } = services

  mount(
    app,
    '/api/:workspace/roles',
    {
      GET: async (c) => {
        const { data, total } = await roles.list(await authorize(services, c), () => listQuery(c))
        return dataText(data, total)
      },
      POST: async (c) => createdText(await roles.create(await authorize(services, c), () => readBody(c, createBody))),
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/:workspace/roles/:id',
    {
      GET: async (c) => dataText(await roles.read(await authorize(services, c), idOf(c, 'Role'), () => itemQuery(c))),
      PATCH: async (c) =>
        dataText(await roles.update(await authorize(services, c), idOf(c, 'Role'), () => readBody(c, updateBody))),
      DELETE: async (c) => {
        await roles.delete(await authorize(services, c), idOf(c, 'Role'))
        return noContent()
      },
    },
    { strictQuery: ['GET'] },
  )
}
