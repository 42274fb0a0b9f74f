/**
 * The Durable Object that wakes the instance when the license is to be revalidated. It keeps the time and nothing else:
 * whether there is something to do is decided by whoever is woken.
 */
import { DurableObject } from 'cloudflare:workers'
import type { Alarm, Clock, Instant } from '../../ports.ts'

/** Does what is due and answers when to be called next; undefined for never. */
export type Wake<Env> = (env: Env) => Promise<Instant | undefined>

export type WakingObject = Rpc.DurableObjectBranded & { set(delay: number): Promise<void>; wake(): Promise<void> }

/** After a failure of ours, and at most so long where the time is further ahead: a clock may be set meanwhile. */
const HOUR = 3_600_000

/** The class to export from the Worker. */
export function licenseObject<Env>(wake: Wake<Env>, clock: Clock) {
  return class extends DurableObject<Env> {
    /** Milliseconds from now; an earlier alarm stands. */
    async set(delay: number): Promise<void> {
      const at = Date.now() + Math.max(0, delay)
      const standing = await this.ctx.storage.getAlarm()
      if (standing === null || at < standing) await this.ctx.storage.setAlarm(at)
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

/** There is one such object for the instance. */
export function createCloudflareAlarm(namespace: DurableObjectNamespace<WakingObject>, clock: Clock): Alarm {
  return {
    async set(at) {
      await namespace.get(namespace.idFromName('license')).set(at - clock.now())
    },
  }
}
