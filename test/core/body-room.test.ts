/** What arriving bodies hold together (docs/contract.md#memory). */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { type ArrivingBody, createBodyRoom } from '../../handlers/http/body-room.ts'

const bodyOf = (bytes: number, caller = randomUUID() as string): ArrivingBody => ({
  ...{ bytes, isGivenUp: false, caller },
})
const isGivenUp = (body: ArrivingBody) => body.isGivenUp

it('gives up what has not gone on for longest, and what arrives where all others are there', () => {
  const room = createBodyRoom({ most: 10 })
  const [first, second, third, fourth] = [bodyOf(4), bodyOf(4), bodyOf(4), bodyOf(4)]
  for (const body of [first, second, third]) room.hold(body)
  const afterThree = [first, second, third].map(({ isGivenUp }) => isGivenUp)
  second.isComplete = true
  third.isComplete = true
  room.hold(fourth)

  expect(afterThree).toEqual([true, false, false])
  expect([second, third, fourth].map(({ isGivenUp }) => isGivenUp)).toEqual([false, false, true])
  room.release(second)
  const alone = bodyOf(20)
  third.isComplete = false
  room.hold(alone)
  expect([third.isGivenUp, alone.isGivenUp]).toEqual([true, false])
})

it('lets bodies wait for their room, in their order, and gives up for them what does not go on', async () => {
  const room = createBodyRoom({ most: 10, small: 0, stall: 40 })
  const [stalled, stored, second, third] = [bodyOf(6), { ...bodyOf(4), isComplete: true }, bodyOf(6), bodyOf(4)]
  const entered: string[] = []
  const enter = async (name: string, body: ArrivingBody) => {
    if (await room.enter(body)) entered.push(name)
  }

  await enter('stalled', stalled)
  await enter('stored', stored)
  const both = [enter('second', second), enter('third', third)]
  room.touch(stalled)
  await both[0]
  const whenStalled = [...entered, stalled.isGivenUp, stored.isGivenUp]
  room.release(stored)
  await both[1]

  expect(whenStalled).toEqual(['stalled', 'stored', 'second', true, false])
  expect(entered).toEqual(['stalled', 'stored', 'second', 'third'])
})

it('gives up for those that wait what arrives by the byte, and has room for what is small', async () => {
  const room = createBodyRoom({ most: 1_000_000, stall: 40 })
  const [dripping, honest, waiting, small] = [bodyOf(500_000), bodyOf(500_000), bodyOf(500_000), bodyOf(60_000)]
  for (const body of [dripping, honest]) {
    body.arrived = 0
    await room.enter(body)
  }
  const hasEntered = room.enter(waiting)
  const [at, sending] = [
    await room.enter(small),
    setInterval(() => {
      for (const [body, bytes] of [
        [dripping, 1],
        [honest, 10_000],
      ] as const) {
        body.arrived = (body.arrived ?? 0) + bytes
        if (!body.isGivenUp) room.touch(body)
      }
    }, 5),
  ]
  await hasEntered
  clearInterval(sending)

  expect([at, dripping.isGivenUp, honest.isGivenUp, waiting.isGivenUp]).toEqual([true, true, false, false])
})

it('gives one caller half of the room, and lets others pass those who wait for their own', async () => {
  const room = createBodyRoom({ most: 10, small: 0 })
  const [first, second, other] = [bodyOf(4, 'greedy'), bodyOf(4, 'greedy'), bodyOf(4)]
  const entered: string[] = []
  const enter = async (name: string, body: ArrivingBody) => {
    if (await room.enter(body)) entered.push(name)
  }
  await enter('first', first)
  const later = enter('second', second)
  await enter('other', other)
  const whileFirst = [...entered]
  room.release(first)
  await later

  expect(whileFirst).toEqual(['first', 'other'])
  expect(entered).toEqual(['first', 'other', 'second'])
  const [old, anew, alone] = [bodyOf(3, 'one'), bodyOf(3, 'one'), bodyOf(9, 'two')]
  const holding = createBodyRoom({ most: 10 })
  for (const body of [old, anew]) holding.hold(body)
  expect([old, anew].map(isGivenUp)).toEqual([true, false])
  holding.release(anew)
  holding.hold(alone)
  expect(alone.isGivenUp).toBe(false)
})

it('gives up what goes beyond the room, and instead what is stalled, where no request waits for another', async () => {
  const room = createBodyRoom({ most: 100_000, waits: false, stall: 40 })
  const [announced, second, third, fourth] = [bodyOf(50_000), bodyOf(60_000), bodyOf(60_000), bodyOf(60_000)]
  for (const body of [announced, second, third, fourth]) body.arrived = 0
  const entered = await Promise.all([announced, second, third, fourth].map((body) => room.enter(body)))
  const arrive = (body: ArrivingBody, bytes: number) => {
    body.arrived = bytes
    room.touch(body)
  }
  arrive(second, 1)
  arrive(third, 1)
  const atOnce = [announced, second, third].map(isGivenUp)
  await new Promise((resolve) => setTimeout(resolve, 60))
  arrive(fourth, 1)

  expect(entered).toEqual([true, true, true, true])
  expect(atOnce).toEqual([false, false, true])
  expect([announced, second, third, fourth].map(isGivenUp)).toEqual([true, true, true, false])
})

it('refuses a complete body at once where no request waits for another, and forgets one that nobody releases', async () => {
  const room = createBodyRoom({ most: 10, largest: 5, waits: false, whole: 40 })
  const complete = (bytes: number, caller: string): ArrivingBody => ({ ...bodyOf(bytes, caller), isComplete: true })
  const [first, again] = [complete(9, 'one'), complete(1, 'one')]
  const entered = [first, again, complete(6, 'two'), complete(1, 'three')].map((body) => room.enter(body))

  expect(await Promise.all(entered)).toEqual([true, false, true, false])
  room.release(first)
  expect(await room.enter(complete(5, 'three'))).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(await room.enter(complete(5, 'four'))).toBe(true)
})

it('lets nobody wait for longer than their patience', async () => {
  const room = createBodyRoom({ most: 10, small: 0, patience: 20 })
  await room.enter({ ...bodyOf(10), isComplete: true })

  expect(await room.enter(bodyOf(1))).toBe(false)
})
