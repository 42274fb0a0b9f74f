/** `/api/{workspace}/invitations` and `/api/auth/invitations/accept` (docs/contract.md#invitations). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { enter, identify } from '../http/context.ts'
import { type App, mount, visitOf } from '../http/mount.ts'
import { emailSchema, idsSchema, lifetimeSchema, listQuery, textSchema } from '../http/schemas.ts'
import { idOf } from './api-keys.ts'
import { passwordSchema } from './system.ts'

const WEEK = 7 * 86_400_000

export const createBody = lazily(() =>
  z.strictObject({
    email: emailSchema(),
    workspace_roles: idsSchema().default([]),
    expiresIn: lifetimeSchema().default(WEEK),
  }),
)

export const acceptBody = lazily(() =>
  z.strictObject({
    token: z.string().max(200),
    password: passwordSchema().optional(),
    fullName: textSchema(200).optional(),
  }),
)

export function mountInvitations(app: App, services: Services): void {
  const { invitations } = services

  mount(app, '/api/auth/invitations/accept', {
    POST: async (c) => {
      const caller = await identify(services, c)
      return data(await invitations.accept(caller, await readBody(c, acceptBody), app.addressOf(c)))
    },
  })

  mount(
    app,
    '/api/:workspace/invitations',
    {
      GET: async (c) => {
        const list = await invitations.list(await enter(services, c), () => listQuery(c))
        return dataText(list.data, list.total)
      },
      POST: async (c) => {
        const entry = await enter(services, c)
        return data(await invitations.create(entry, () => readBody(c, createBody), visitOf(app, c)), 201)
      },
    },
    { asked: ['GET'] },
  )

  mount(app, '/api/:workspace/invitations/:id', {
    DELETE: async (c) => {
      await invitations.delete(await enter(services, c), idOf(c, 'Invitation'))
      return noContent()
    },
  })
}
