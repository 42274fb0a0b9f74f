/** `/api/{workspace}/invitations`, `/api/auth/invitations/lookup` and `…/accept` (docs/contract.md#invitations). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize, identify } from '../http/context.ts'
import { type App, mount, requestOriginOf } from '../http/mount.ts'
import { byId, mountResource } from '../http/resource.ts'
import { emailSchema, idsSchema, lifetimeSchema, lineSchema, passwordSchema } from '../http/schemas.ts'
import { readIn } from '../http/sent.ts'

const WEEK = 7 * 86_400_000

export const createBody = lazily(() =>
  z.strictObject({
    email: emailSchema(),
    workspace_roles: idsSchema().default([]),
    expiresIn: lifetimeSchema().default(WEEK),
  }),
)

const tokenSchema = () => z.string().max(200)

export const lookupBody = lazily(() => z.strictObject({ token: tokenSchema() }))

export const acceptBody = lazily(() =>
  z.strictObject({
    token: tokenSchema(),
    password: passwordSchema().optional(),
    fullName: lineSchema().optional(),
  }),
)

export function mountInvitations(app: App, services: Services): void {
  const { invitations } = services

  mount(app, '/api/auth/invitations/lookup', {
    POST: async (c) => data(await invitations.lookUp((await readBody(c, lookupBody)).token)),
  })

  mount(app, '/api/auth/invitations/accept', {
    POST: async (c) => {
      const [caller, sent] = await readIn(
        () => identify(services, c),
        () => readBody(c, acceptBody),
      )
      return data(await invitations.accept(caller, sent, app.addressOf(c)))
    },
  })

  mountResource(app, {
    path: '/api/:workspace/invitations',
    scopeOf: (c) => authorize(services, c),
    list: invitations.list,
    create: {
      body: createBody,
      run: (scope, sent, c) => invitations.create(scope, sent, requestOriginOf(app, c)),
    },
    one: { key: byId('Invitation'), delete: invitations.delete },
  })
}
