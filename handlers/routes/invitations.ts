/** `/api/{workspace}/invitations` and `/api/auth/invitations/accept` (docs/contract.md#invitations). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize, identify } from '../http/context.ts'
import { type App, mount, requestOriginOf } from '../http/mount.ts'
import { emailSchema, idOf, idsSchema, lifetimeSchema, listQuery, passwordSchema, textSchema } from '../http/schemas.ts'

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
        const list = await invitations.list(await authorize(services, c), () => listQuery(c))
        return dataText(list.data, list.total)
      },
      POST: async (c) => {
        const scope = await authorize(services, c)
        return data(await invitations.create(scope, () => readBody(c, createBody), requestOriginOf(app, c)), 201)
      },
    },
    { strictQuery: ['GET'] },
  )

  mount(app, '/api/:workspace/invitations/:id', {
    DELETE: async (c) => {
      await invitations.delete(await authorize(services, c), idOf(c, 'Invitation'))
      return noContent()
    },
  })
}
