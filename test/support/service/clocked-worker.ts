/**
 * The Worker with a clock that a test sets ahead, and with its alarm to be rung by hand: time in workerd cannot be moved
 * from outside. Everything else is handlers/worker.ts.
 */
import { createWorker, type Env } from '../../../handlers/worker.ts'
import { quickHashing } from './quick-hashing.ts'

export * from '../../../handlers/worker.ts'

let ahead: number | undefined

const worker = createWorker({ clock: { now: () => Date.now() + (ahead ?? 0) }, passwords: quickHashing })

export const { LicenseObject } = worker

export default {
  async fetch(request, env, context) {
    ahead ??= Number(env.SERVICE_TEST_CLOCK)
    const { pathname } = new URL(request.url)
    if (pathname === '/test/clock') {
      ahead = Number(await request.text())
      return new Response()
    }
    if (pathname === '/test/due') {
      await env.LICENSE.get(env.LICENSE.idFromName('license')).wake()
      return new Response()
    }
    if (pathname === '/test/cron') {
      await worker.handler.scheduled({ scheduledTime: 0, cron: '', noRetry() {} }, env)
      return new Response()
    }
    return worker.handler.fetch(request, env, context)
  },
} satisfies ExportedHandler<Env>
