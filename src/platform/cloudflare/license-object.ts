/**
 * The Durable Object whose alarm wakes the instance when the license must be revalidated. It stores only the time; the
 * callback decides whether there is something to do.
 */
import { DurableObject } from 'cloudflare:workers'
import type { Clock, Instant } from '../../ports/clock.ts'
import type { Alarm } from '../../ports/licensing.ts'

/** Does the work that is due and returns the next wake-up time; undefined for none. */
export type Wake<Env> = (env: Env) => Promise<Instant | undefined>

export type WakingObject = Rpc.DurableObjectBranded & { set(delay: number): Promise<void>; wake(): Promise<void> }

/** Delay after a failure, and the longest delay between wake-ups, since the clock may be changed meanwhile. */
const HOUR = 3_600_000

/** Creates the class that the Worker exports. */
export function licenseObject<Env>(wake: Wake<Env>, clock: Clock) {
  return class extends DurableObject<Env> {
    /** Takes milliseconds from now; an earlier alarm stays. */
    async set(delay: number): Promise<void> {
      const at = Date.now() + Math.max(0, delay)
      const scheduled = await this.ctx.storage.getAlarm()
      if (scheduled === null || at < scheduled) await this.ctx.storage.setAlarm(at)
    }

    override async alarm(): Promise<void> {
      await this.wake()
    }

    async wake(): Promise<void> {
      let next: Instant | undefined
      try {
        next = await wake(this.env)
      } catch (cause) {
        await this.ctx.storage.setAlarm(Date.now() + HOUR)
        throw cause
      }
      if (next === undefined) await this.ctx.storage.deleteAlarm()
      else await this.ctx.storage.setAlarm(Date.now() + Math.max(0, next - clock.now()))
    }
  }
}

export type CloudflareAlarmDeps = { readonly namespace: DurableObjectNamespace<WakingObject>; readonly clock: Clock }

/** The instance has one such object. */
export function createCloudflareAlarm(deps: CloudflareAlarmDeps): Alarm {
  const { namespace, clock } = deps
  return {
    async set(at) {
      await namespace.get(namespace.idFromName('license')).set(at - clock.now())
    },
  }
}
