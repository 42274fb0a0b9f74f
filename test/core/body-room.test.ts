/** What arriving bodies hold together (docs/contract.md#memory). */
import { expect, it } from 'vitest'
import { type ArrivingBody, createBodyRoom } from '../../handlers/http/body-room.ts'

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
