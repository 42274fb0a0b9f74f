/** `/api/system/service-accounts` (docs/contract.md#api-keys). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { identify } from '../http/context.ts'
import type { App } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { descriptionSchema, nameSchema, textSchema } from '../http/schemas.ts'

const roleSchema = lazily(() =>
  z.strictObject({
    workspace: textSchema(40),
    roleId: z.uuid('must be a UUID').toLowerCase(),
  }),
)

/** Roles without duplicates, in the order sent. */
const rolesSchema = lazily(() =>
  z
    .array(roleSchema())
    .max(200, 'must have at most 200 entries')
    .transform((roles) => [...new Map(roles.map((role) => [`${role.workspace}/${role.roleId}`, role])).values()]),
)

export const createBody = lazily(() =>
  z.strictObject({
    name: nameSchema(),
    description: descriptionSchema().optional(),
    roles: rolesSchema().optional(),
    owner: z.uuid('must be a UUID').toLowerCase().optional(),
  }),
)

export const updateBody = lazily(() => createBody().partial())

export function mountServiceAccounts(app: App, services: Services): void {
  const { serviceAccounts } = services

  mountResource(app, {
    path: '/api/system/service-accounts',
    scopeOf: (c) => identify(services, c),
    list: serviceAccounts.list,
    create: { body: createBody, run: serviceAccounts.create },
    one: {
      key: byId('Service account'),
      read: serviceAccounts.read,
      update: { body: updateBody, run: serviceAccounts.update },
      delete: serviceAccounts.delete,
    },
  })
}
