/** The instance's own state: `ping`, `live`, `ready`, `info`, settings and the set-up (docs/contract.md#system). */
import * as z from 'zod'
import { type Config, settingsOf } from '../../src/config.ts'
import { ServiceError } from '../../src/core/error.ts'
import { lazily } from '../../src/core/lazily.ts'
import { isAdministrator, requireAdministrator } from '../../src/services/caller/caller.ts'
import { checkReadiness, type Readiness, readiness } from '../../src/services/instance/lifecycle.ts'
import { VERSION } from '../../src/services/instance/release.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, data, failure, json, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { identify } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { emailSchema, lineSchema, passwordSchema } from '../http/schemas.ts'
import { readIn } from '../http/sent.ts'

export const bootstrapBody = lazily(() =>
  z.strictObject({
    email: emailSchema(),
    password: passwordSchema(),
    fullName: lineSchema().optional(),
    setupToken: z.string().max(1_000).optional(),
  }),
)

export const noMembers = lazily(() => z.strictObject({}))

/** Probes are answered whatever proxies or browsers add to the request. */
const probe = { isProbe: true }

/** Tells clients if mails are not sent, so that nobody waits for one. */
function mailless({ SERVICE_MAIL__URL: url }: Config): { readonly mail?: 'log' | 'none' } {
  if (url === undefined) return { mail: 'none' }
  return url.startsWith('log:') ? { mail: 'log' } : {}
}

export type SystemDeps = {
  /** False after a shutdown signal. */
  readonly isAccepting: () => boolean
  /** The port that the process listens on, if it does. */
  readonly port: number | undefined
}

export function mountSystem(app: App, services: Services, { isAccepting, port }: SystemDeps): void {
  const { config, drift, licensing, mailTest, ports, sessions } = services

  mount(app, '/ping', { GET: () => json({ status: 'ok' }) }, probe)
  mount(app, '/api/system/live', { GET: () => json({ status: 'ok' }) }, probe)
  mount(app, '/api/system/ready', { GET: async () => readyAnswer(await checkReadiness(ports, isAccepting())) }, probe)

  mount(app, '/api/system/info', {
    GET: async (c) => {
      const caller = await identify(services, c)
      return json({
        name: 'service',
        ...((await sessions.isUnclaimed()) && { onboarding: { requireCreateUser: true } }),
        ...(caller.kind === 'user' && {
          ...mailless(config),
          version: VERSION,
          now: new Date(ports.clock.now()).toISOString(),
          license: await licensing.info(caller),
        }),
        ...(isAdministrator(caller) && { warnings: await drift.warnings() }),
      })
    },
  })

  mount(app, '/api/system/settings', {
    GET: async (c) => {
      requireAdministrator(await identify(services, c))
      return data(settingsOf(config, port))
    },
  })

  mount(app, '/api/system/mail/test', {
    POST: async (c) => {
      const [caller] = await readIn(
        () => identify(services, c),
        () => readBody(c, noMembers),
      )
      await mailTest.send(caller)
      return noContent()
    },
  })

  mount(app, '/api/system/bootstrap', {
    POST: async (c) => {
      const { setupToken, ...user } = await readBody(c, bootstrapBody)
      return data(await sessions.bootstrap(user, { setupToken, address: app.addressOf(c) }), 201)
    },
  })
}

/** The answer on every path while the instance could not be opened; `startup` is the reason. */
export function closedAnswer(path: string, startup: string): Answer {
  if (path === '/api/system/live') return json({ status: 'ok' })
  if (path === '/api/system/ready') {
    return readyAnswer(readiness({ accepting_traffic: 'ok', startup, system_db: 'not checked' }))
  }
  return failure(new ServiceError('unavailable', 'The service is unavailable'))
}

function readyAnswer(readiness: Readiness): Answer {
  return json(readiness, readiness.status === 'ready' ? 200 : 503)
}
