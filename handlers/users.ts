/** `/api/system/users` (contract 5). */
import * as z from 'zod'
import { lazily } from '../src/core/lazily.ts'
import type { Services } from '../src/services/services.ts'
import { idOf } from './api-keys.ts'
import { identify, identifyItself } from './context.ts'
import { itemQuery, listQuery, textSchema } from './parts.ts'
import { readBody } from './request.ts'
import { dataText, noContent } from './respond.ts'
import { type App, mount } from './routes.ts'

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
    { asked: ['GET'] },
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
    { asked: ['GET'] },
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
    { asked: ['GET'] },
  )
}
