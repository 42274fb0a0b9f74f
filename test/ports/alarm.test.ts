/** Alarm on Node: work is done when its time has come by the clock, not before and not twice. */
import { expect, it } from 'vitest'
import { createNodeAlarm } from '../../src/platform/node/alarm.ts'

it('wakes when the time has come, and then at the time that it was answered', async () => {
  const { alarm, tick, wakings, setTime } = start([100, 200])
  await alarm.set(50)

  await tick()
  setTime(50)
  await tick()
  await tick()
  setTime(99)
  await tick()
  setTime(100)
  await tick()

  expect(wakings).toEqual([50, 100])
})

it('keeps the earlier of two times', async () => {
  const { alarm, tick, wakings, setTime } = start([undefined])
  await alarm.set(50)
  await alarm.set(20)
  await alarm.set(80)

  setTime(20)
  await tick()
  setTime(1_000)
  await tick()

  expect(wakings).toEqual([20])
})

it('tells of what failed, and tries again an hour later', async () => {
  const { alarm, tick, wakings, faults, setTime } = start([new Error('away'), undefined])
  await alarm.set(0)

  await tick()
  setTime(3_599_999)
  await tick()
  setTime(3_600_000)
  await tick()

  expect(wakings).toEqual([0, 3_600_000])
  expect(faults).toEqual([new Error('away')])
})

it('ticks by itself, one piece of work at a time, until it is stopped', async () => {
  let running = 0
  let most = 0
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const alarm = createNodeAlarm({
    clock: { now: () => 0 },
    ticker: (_, work) => {
      const timer = setInterval(() => void work(), 1)
      return async () => clearInterval(timer)
    },
  })
  await alarm.set(0)
  let left = 5
  alarm.start(
    async () => {
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
      left -= 1
      if (left === 0) resolve()
      return 0
    },
    () => resolve(),
  )

  await done
  await alarm.stop()

  expect(most).toBe(1)
})

function start(answers: readonly (number | undefined | Error)[]) {
  let time = 0
  let work = async () => {}
  const wakings: number[] = []
  const faults: unknown[] = []
  const alarm = createNodeAlarm({
    clock: { now: () => time },
    ticker: (_, given) => {
      work = given
      return async () => {}
    },
  })
  alarm.start(
    async () => {
      const answer = answers[wakings.push(time) - 1]
      if (answer instanceof Error) throw answer
      return answer
    },
    (error) => faults.push(error),
  )
  const setTime = (now: number) => {
    time = now
  }
  return { alarm, wakings, faults, setTime, tick: () => work() }
}
