/** `/api/system/users` (docs/contract.md#accounts). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identify, identifyItself } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { idOf, itemQuery, lineSchema } from '../http/schemas.ts'
import { withSent } from '../http/sent.ts'

export const updateBody = lazily(() =>
  z.strictObject({
    fullName: lineSchema().nullable().optional(),
    status: z.enum(['active', 'suspended'], "must be 'active' or 'suspended'").optional(),
    isAdministrator: z.boolean().optional(),
  }),
)

export const ownBody = lazily(() => z.strictObject({ fullName: lineSchema().nullable() }))

export function mountUsers(app: App, services: Services): void {
  const { ownSessions, users } = services

  mount(
    app,
    '/api/system/users/me',
    {
      GET: async (c) => dataText(await users.me(await identifyItself(services, c), () => itemQuery(c))),
      PATCH: async (c) =>
        dataText(
          await withSent(
            () => identify(services, c),
            () => readBody(c, ownBody),
            users.updateMe,
          ),
        ),
    },
    { strictQuery: ['GET'] },
  )

  mount(app, '/api/system/users/me/sessions', {
    GET: async (c) => dataText(await ownSessions.list(await identify(services, c))),
    DELETE: async (c) => {
      await ownSessions.endOthers(await identify(services, c))
      return noContent()
    },
  })

  mount(app, '/api/system/users/me/sessions/:id', {
    DELETE: async (c) => {
      await ownSessions.end(await identify(services, c), idOf(c, 'Session'))
      return noContent()
    },
  })

  mountResource(app, {
    path: '/api/system/users',
    scopeOf: (c) => identify(services, c),
    list: users.list,
    one: {
      key: byId('User'),
      read: users.read,
      update: { body: updateBody, run: users.update },
      delete: users.delete,
    },
  })
}
