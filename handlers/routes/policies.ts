/** `/api/{workspace}/policies` (docs/contract.md#policies). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { authorize } from '../http/context.ts'
import { testsIn } from '../http/failing-tests.ts'
import type { App } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { descriptionSchema, nameSchema } from '../http/schemas.ts'

/** The service validates the content, because it depends on the model. */
const contentSchema = lazily(() => z.record(z.string(), z.unknown()))

export const createBody = lazily(() =>
  z.strictObject({
    name: nameSchema(),
    description: descriptionSchema().default(null),
    content: contentSchema(),
  }),
)

export const updateBody = lazily(() =>
  z.strictObject({
    name: nameSchema().optional(),
    description: descriptionSchema().optional(),
    content: contentSchema().optional(),
  }),
)

export function mountPolicies(app: App, services: Services): void {
  const { policies, config } = services

  mountResource(app, {
    path: '/api/:workspace/policies',
    scopeOf: (c) => authorize(services, c),
    bodyLimit: config.SERVICE_SCHEMA__BODY_LIMIT,
    list: policies.list,
    create: { body: createBody, run: policies.create },
    one: {
      key: byId('Policy'),
      read: policies.read,
      update: {
        body: updateBody,
        run: (scope, id, sent, c) => policies.update(scope, id, sent, testsIn(c)),
      },
      delete: (scope, id, c) => policies.delete(scope, id, testsIn(c)),
      takesParameters: true,
    },
  })
}
