/** `/api/system/api-keys` (docs/contract.md#api-keys). */
import * as z from 'zod'
import { scopeSchema } from '../../src/core/access/scope.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identifyItself } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { descriptionSchema, idOf, lifetimeSchema, listQuery, nameSchema } from '../http/schemas.ts'

export const createBody = lazily(() =>
  z.strictObject({
    name: nameSchema(),
    description: descriptionSchema().optional(),
    expiresIn: lifetimeSchema().optional(),
    userId: z.uuid('must be a UUID').toLowerCase().optional(),
    scope: scopeSchema().optional(),
  }),
)

export const updateBody = lazily(() =>
  z.strictObject({
    name: nameSchema().optional(),
    description: descriptionSchema().optional(),
    active: z.boolean().optional(),
  }),
)

export function mountApiKeys(app: App, services: Services): void {
  const { apiKeys } = services

  mount(
    app,
    '/api/system/api-keys',
    {
      GET: async (c) => {
        const { data, total } = await apiKeys.list(await identifyItself(services, c), () => listQuery(c))
        return dataText(data, total)
      },
      POST: async (c) =>
        data(await apiKeys.create(await identifyItself(services, c), () => readBody(c, createBody)), 201),
    },
    { strictQuery: ['GET'] },
  )

  mount(app, '/api/system/api-keys/:id', {
    PATCH: async (c) =>
      dataText(
        await apiKeys.update(await identifyItself(services, c), idOf(c, 'API key'), () => readBody(c, updateBody)),
      ),
    DELETE: async (c) => {
      await apiKeys.delete(await identifyItself(services, c), idOf(c, 'API key'))
      return noContent()
    },
  })
}
