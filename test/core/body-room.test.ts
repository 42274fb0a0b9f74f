/** What arriving bodies hold together (docs/contract.md#memory). */
import { expect, it } from 'vitest'
import { type ArrivingBody, createBodyRoom, createRefusingBodyRoom } from '../../handlers/http/body-room.ts'

const bodyOf = (bytes: number): ArrivingBody => ({ chunks: [], bytes, isGivenUp: false })

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

it('gives up nobody but what goes beyond the room, where requests do not know each other', async () => {
  const room = createRefusingBodyRoom({ most: 100_000 })
  const [announced, second, third] = [bodyOf(1_000_000), bodyOf(60_000), bodyOf(60_000)]
  for (const body of [announced, second, third]) body.arrived = 0
  const entered = [await room.enter(announced), await room.enter(second), await room.enter(third)]
  const arrive = (body: ArrivingBody, bytes: number) => {
    body.arrived = bytes
    room.touch(body)
  }
  arrive(announced, 10)
  arrive(second, 60_000)
  arrive(third, 60_000)

  expect([entered, announced.isGivenUp, second.isGivenUp, third.isGivenUp]).toEqual([
    [true, true, true],
    false,
    false,
    true,
  ])
  room.release(third)
  room.release(second)
  arrive(announced, 1_000_000)
  expect(announced.isGivenUp).toBe(false)
})

it('lets nobody wait for longer than their patience', async () => {
  const room = createBodyRoom({ most: 10, small: 0, patience: 20 })
  await room.enter({ ...bodyOf(10), isComplete: true })

  expect(await room.enter(bodyOf(1))).toBe(false)
})
