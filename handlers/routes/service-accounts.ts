/** `/api/system/service-accounts` (docs/contract.md#api-keys). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { createdText, dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identify } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { descriptionSchema, idOf, itemQuery, listQuery, nameSchema, textSchema } from '../http/schemas.ts'

const WHAT = 'Service account'

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

  mount(
    app,
    '/api/system/service-accounts',
    {
      GET: async (c) => {
        const { data, total } = await serviceAccounts.list(await identify(services, c), () => listQuery(c))
        return dataText(data, total)
      },
      POST: async (c) =>
        createdText(await serviceAccounts.create(await identify(services, c), () => readBody(c, createBody))),
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/system/service-accounts/:id',
    {
      GET: async (c) =>
        dataText(await serviceAccounts.read(await identify(services, c), idOf(c, WHAT), () => itemQuery(c))),
      PATCH: async (c) =>
        dataText(
          await serviceAccounts.update(await identify(services, c), idOf(c, WHAT), () => readBody(c, updateBody)),
        ),
      DELETE: async (c) => {
        await serviceAccounts.delete(await identify(services, c), idOf(c, WHAT))
        return noContent()
      },
    },
    { strictQuery: ['GET'] },
  )
}
