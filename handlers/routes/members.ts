/** `/api/{workspace}/members` (docs/contract.md#policies). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { authorize } from '../http/context.ts'
import { testsIn } from '../http/failing-tests.ts'
import type { App } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { idsSchema } from '../http/schemas.ts'

export const updateBody = lazily(() =>
  z.strictObject({
    roles: idsSchema().optional(),
    status: z.enum(['active', 'suspended'], "must be 'active' or 'suspended'").optional(),
  }),
)

export function mountMembers(app: App, services: Services): void {
  const { members } = services

  mountResource(app, {
    path: '/api/:workspace/members',
    scopeOf: (c) => authorize(services, c),
    list: members.list,
    one: {
      key: byId('Member'),
      update: {
        body: updateBody,
        run: (scope, id, sent, c) => members.update(scope, id, sent, testsIn(c)),
      },
      delete: (scope, id, c) => members.delete(scope, id, testsIn(c)),
      takesParameters: true,
    },
  })
}
