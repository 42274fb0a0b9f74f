/** `/api/auth/…`: signing in (contract 6). */
import * as z from 'zod'
import type { Services } from '../src/services/services.ts'
import { textSchema } from './parts.ts'
import { readBody } from './request.ts'
import { json } from './respond.ts'
import { type App, mount } from './routes.ts'

const mode = z.literal('json', "must be 'json'")

/** Whether an address could be one is not asked: what no account has is wrong like any other. */
const credentials = { email: textSchema(320), password: z.string().max(256) }

const loginBody = z.strictObject({
  credentials: z.strictObject(credentials),
  mode,
})

const passwordLoginBody = z.strictObject({ ...credentials, mode })

export function mountAuth(app: App, { sessions }: Services): void {
  mount(app, '/api/auth/login', {
    POST: async (c) => {
      const { credentials } = await readBody(c, loginBody)
      return json(await sessions.login({ ...credentials, address: app.addressOf(c) }))
    },
  })

  mount(app, '/api/auth/providers/local/password/login', {
    POST: async (c) => {
      const { email, password } = await readBody(c, passwordLoginBody)
      return json(await sessions.login({ email, password, address: app.addressOf(c) }))
    },
  })
}
