/** `/api/system/api-keys` (docs/contract.md#api-keys). */
import * as z from 'zod'
import { scopeSchema } from '../../src/core/access/scope.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { identifyItself } from '../http/context.ts'
import type { App } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { descriptionSchema, lifetimeSchema, nameSchema } from '../http/schemas.ts'

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

  mountResource(app, {
    path: '/api/system/api-keys',
    scopeOf: (c) => identifyItself(services, c),
    list: apiKeys.list,
    create: { body: createBody, run: apiKeys.create },
    one: {
      key: byId('API key'),
      update: { body: updateBody, run: apiKeys.update },
      delete: apiKeys.delete,
    },
  })
}
