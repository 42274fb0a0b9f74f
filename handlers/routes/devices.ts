/**
 * `/api/auth/device`: signing in on a device without a browser, by a code that is approved in a browser
 * (docs/contract.md#devices). The page is public and holds no data; it calls the routes beside it, and has neither inline
 * scripts nor inline styles.
 */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Assets } from '../../src/ports/files.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, dataText, json, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identify } from '../http/context.ts'
import { type App, mount, sessionClientOf } from '../http/mount.ts'
import { publicAddress } from '../http/origin.ts'
import { pageHeaders } from '../http/page.ts'
import { nameSchema } from '../http/schemas.ts'
import { readIn } from '../http/sent.ts'

const codeSchema = lazily(() => z.string().max(40, 'must have at most 40 characters'))

export const startBody = lazily(() => z.strictObject({ name: nameSchema().optional() }))
export const tokenBody = lazily(() => z.strictObject({ deviceCode: z.string().max(200) }))
export const lookupBody = lazily(() => z.strictObject({ userCode: codeSchema() }))
export const decisionBody = lazily(() => z.strictObject({ userCode: codeSchema(), approve: z.boolean() }))

export function mountDevices(app: App, services: Services, assets: Assets): void {
  const { config, deviceSignIn } = services

  const file = (name: string, headers: NonNullable<Answer['headers']>) => async () => ({
    status: 200,
    body: await assets(name),
    headers,
  })
  const cached = { 'Cache-Control': 'public, max-age=3600' }

  mount(app, '/api/auth/device', {
    GET: file('device.html', pageHeaders()),
    POST: async (c) => {
      const { name } = await readBody(c, startBody)
      const codes = await deviceSignIn.start(name, sessionClientOf(app, c))
      return json({ ...codes, verificationUri: `${publicAddress(c, config)}/api/auth/device` })
    },
  })

  mount(app, '/api/auth/device/page.js', {
    GET: file('device.js', { 'Content-Type': 'text/javascript; charset=utf-8', ...cached }),
  })
  mount(app, '/api/auth/device/page.css', {
    GET: file('device.css', { 'Content-Type': 'text/css; charset=utf-8', ...cached }),
  })

  mount(app, '/api/auth/device/token', {
    POST: async (c) => {
      const { deviceCode } = await readBody(c, tokenBody)
      const taken = await deviceSignIn.take(deviceCode)
      return json(taken, 'accessToken' in taken ? 200 : 202)
    },
  })

  mount(app, '/api/auth/device/lookup', {
    POST: async (c) => {
      const [caller, { userCode }] = await readIn(
        () => identify(services, c),
        () => readBody(c, lookupBody),
      )
      return dataText(await deviceSignIn.find(caller, userCode, app.addressOf(c)))
    },
  })

  mount(app, '/api/auth/device/decision', {
    POST: async (c) => {
      const [caller, sent] = await readIn(
        () => identify(services, c),
        () => readBody(c, decisionBody),
      )
      await deviceSignIn.decide(caller, sent, app.addressOf(c))
      return noContent()
    },
  })
}
