/** How much a connection is handed at a time, against a server of which only its times are known; no clock runs. */
import { describe, expect, it } from 'vitest'
import { startPace } from '../../src/platform/drivers/postgres/pace.ts'

/** Milliseconds: from asking to arriving and from answering to knowing, and what one statement takes. */
type Server = { readonly way: number; readonly work: number }

describe.each([
  { name: 'nearby, quick statements', way: 0.05, work: 0.05 },
  { name: 'nearby, slow statements', way: 0.05, work: 20 },
  { name: '1 ms away', way: 1, work: 0.2 },
  { name: '20 ms away', way: 20, work: 0.2 },
  { name: '100 ms away, slow statements', way: 100, work: 5 },
])('a server $name', ({ way, work }) => {
  it('is kept busy', () => {
    const { answered, elapsed } = ask(10_000, { way, work })

    // All but what it takes to learn how far away it is.
    expect((answered * work) / elapsed).toBeGreaterThan(0.9)
  })

  it('is handed no more than it answers soon', () => {
    const { most } = ask(10_000, { way, work })

    expect(most.slice(-1_000).every((load) => load <= Math.max(5, (2 * (2 * way + work) + 4) / work + 2))).toBe(true)
  })
})

it('lets everything in before the first answer', () => {
  const pace = startPace()
  for (let count = 0; count < 1_000; count += 1) pace.ask(count)

  expect(pace.isFull()).toBe(false)
  expect(pace.load()).toBe(1_000)
})

it('knows how long a server has said nothing since it was asked', () => {
  const pace = startPace()
  pace.ask(100)
  pace.ask(150)
  expect(pace.silence(180)).toBe(80)
  pace.answer(190)
  expect(pace.silence(200)).toBe(10)
  pace.answer(210)
  pace.ask(500)
  expect(pace.silence(501)).toBe(1)
})

/** Asks as many as wait for nothing but the pace, one behind the other as a pipelined connection does. */
function ask(count: number, { way, work }: Server) {
  const pace = startPace()
  const arriving: number[] = []
  const most: number[] = []
  let now = 0
  let free = 0
  let asked = 0
  for (let answered = 0; answered < count; answered += 1) {
    while (asked < count && !pace.isFull() && pace.load() < 2_000) {
      pace.ask(now)
      free = Math.max(free, now + way) + work
      arriving.push(free + way)
      asked += 1
    }
    most.push(pace.load())
    now = arriving[answered] ?? now
    pace.answer(now)
  }
  return { answered: count, elapsed: now, most }
}
