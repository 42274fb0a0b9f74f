/** `/api/{workspace}/roles` (docs/contract.md#policies). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { authorize } from '../http/context.ts'
import { testsIn } from '../http/failing-tests.ts'
import type { App } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { descriptionSchema, idsSchema, nameSchema } from '../http/schemas.ts'

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

  mountResource(app, {
    path: '/api/:workspace/roles',
    scopeOf: (c) => authorize(services, c),
    list: roles.list,
    create: { body: createBody, run: roles.create },
    one: {
      key: byId('Role'),
      read: roles.read,
      update: {
        body: updateBody,
        run: (scope, id, sent, c) => roles.update(scope, id, sent, testsIn(c)),
      },
      delete: (scope, id, c) => roles.delete(scope, id, testsIn(c)),
      takesParameters: true,
    },
  })
}
