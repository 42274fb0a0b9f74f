/** The Durable Object that wakes the instance about its license: a real alarm, set, rung and set again. */
/// <reference types="@cloudflare/vitest-plugin/types" />
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { createCloudflareAlarm } from '../../src/platform/cloudflare/license-object.ts'
import { type TestEnv, wakings } from './worker.ts'

// The types know no particular Worker; this one is ./worker.ts.
const bindings = env as unknown as TestEnv
const HOUR = 3_600_000
const clock = { now: () => Date.now() }

const theObject = () => bindings.LICENSE.get(bindings.LICENSE.idFromName('license'))

it('sets the alarm of the one object, keeps the earlier time, wakes, and goes on at the time that it is told', async () => {
  const alarm = createCloudflareAlarm({ namespace: bindings.LICENSE, clock })
  const [late, soon] = [clock.now() + 3 * HOUR, clock.now() + HOUR]

  await alarm.set(late)
  await alarm.set(soon)
  await alarm.set(late)
  const standing = await alarmOf()
  wakings.next = clock.now() + 5 * HOUR
  const rang = await runDurableObjectAlarm(theObject())
  const following = await alarmOf()
  wakings.next = undefined
  await runDurableObjectAlarm(theObject())

  expect(Math.abs((standing ?? 0) - soon)).toBeLessThan(HOUR / 2)
  expect(rang).toBe(true)
  expect(wakings.count).toBe(2)
  expect(Math.abs((following ?? 0) - (clock.now() + 5 * HOUR))).toBeLessThan(HOUR / 2)
  expect(await alarmOf()).toBeNull()
})

it('tries again in an hour where its work failed, and says so', async () => {
  wakings.fault = new Error('the database does not answer')
  await createCloudflareAlarm({ namespace: bindings.LICENSE, clock }).set(clock.now() + 3 * HOUR)

  const failing = runInDurableObject(theObject(), (object) => object.wake().catch(String))

  expect(await failing).toContain('the database does not answer')
  expect(Math.abs(((await alarmOf()) ?? 0) - (clock.now() + HOUR))).toBeLessThan(HOUR / 2)
  wakings.fault = undefined
  const { count } = wakings
  await runDurableObjectAlarm(theObject())
  expect(wakings.count).toBe(count + 1)
  expect(await alarmOf()).toBeNull()
})

function alarmOf(): Promise<number | null> {
  return runInDurableObject(theObject(), (_, state) => state.storage.getAlarm())
}
