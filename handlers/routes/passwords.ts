/** `/api/auth/password-…`: changing a password, and resetting it with a mailed token (docs/contract.md#passwords). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identify } from '../http/context.ts'
import { type App, mount, requestOriginOf } from '../http/mount.ts'
import { passwordSchema, textSchema } from '../http/schemas.ts'
import { readIn } from '../http/sent.ts'
import { requireKnownParameters } from '../http/unexpected-input.ts'

export const changeBody = lazily(() =>
  z.strictObject({ currentPassword: z.string().max(256), newPassword: passwordSchema() }),
)

/** The address is not validated: every address gets the same answer. */
export const requestBody = lazily(() => z.strictObject({ email: textSchema(320) }))

export const confirmBody = lazily(() => z.strictObject({ token: z.string().max(200), password: passwordSchema() }))

export function mountPasswords(app: App, services: Services): void {
  const { passwords } = services

  mount(app, '/api/auth/password-change', {
    POST: async (c) => {
      const [caller, sent] = await readIn(
        () => identify(services, c),
        () => readBody(c, changeBody),
      )
      await passwords.change(caller, sent, app.addressOf(c))
      return noContent()
    },
  })

  mount(app, '/api/auth/password-reset/request', {
    POST: async (c) => {
      const { email } = await readBody(c, requestBody)
      await passwords.requestReset(email, requestOriginOf(app, c))
      return noContent()
    },
  })

  mount(
    app,
    '/api/auth/password-reset/verify',
    {
      GET: async (c) => {
        requireKnownParameters(c, ['token'])
        await passwords.verifyReset(c.req.query('token') ?? '', app.addressOf(c))
        return noContent()
      },
    },
    { strictQuery: ['GET'] },
  )

  mount(app, '/api/auth/password-reset/confirm', {
    POST: async (c) => {
      await passwords.confirmReset(await readBody(c, confirmBody), app.addressOf(c))
      return noContent()
    },
  })
}
