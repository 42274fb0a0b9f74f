/** `/api/system/users` (docs/contract.md#accounts). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identify, identifyItself } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { idOf, itemQuery, listQuery, textSchema } from '../http/schemas.ts'

export const updateBody = lazily(() =>
  z.strictObject({
    fullName: textSchema(200).nullable().optional(),
    status: z.enum(['active', 'suspended'], "must be 'active' or 'suspended'").optional(),
    isAdministrator: z.boolean().optional(),
  }),
)

export function mountUsers(app: App, services: Services): void {
  const { users } = services

  mount(
    app,
    '/api/system/users/me',
    {
      GET: async (c) => dataText(await users.me(await identifyItself(services, c), () => itemQuery(c))),
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/system/users',
    {
      GET: async (c) => {
        const { data, total } = await users.list(await identify(services, c), () => listQuery(c))
        return dataText(data, total)
      },
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/system/users/:id',
    {
      GET: async (c) => dataText(await users.read(await identify(services, c), idOf(c, 'User'), () => itemQuery(c))),
      PATCH: async (c) =>
        dataText(await users.update(await identify(services, c), idOf(c, 'User'), () => readBody(c, updateBody))),
      DELETE: async (c) => {
        await users.delete(await identify(services, c), idOf(c, 'User'))
        return noContent()
      },
    },
    { strictQuery: ['GET'] },
  )
}
