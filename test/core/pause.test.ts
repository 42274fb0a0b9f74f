/** What gives way lets a request in after each of its parts, however much else gives way. */
import { expect, it } from 'vitest'
import { pause } from '../../src/ports/clock.ts'
import { inParts } from '../../src/sources/in-parts.ts'

/** Works for so many milliseconds, longer than what goes on between two pauses. */
function work(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

it('lets others in between any two parts of many works', async () => {
  let parts = 0
  function* parted(): Generator<undefined, void> {
    for (let count = 0; count < 4; count += 1) {
      work(9)
      parts += 1
      yield
    }
  }
  const ends = Promise.all(Array.from({ length: 20 }, () => inParts(parted())))
  let isOver = false
  void ends.then(() => {
    isOver = true
  })
  const between: number[] = []

  while (!isOver) {
    const before = parts
    await new Promise((resolve) => setTimeout(resolve))
    between.push(parts - before)
  }

  expect(parts).toBe(80)
  expect(Math.max(...between)).toBeLessThanOrEqual(2)
})

it('lets go on in the order in which they gave way', async () => {
  const went: string[] = []
  const goes = async (name: string) => {
    for (let count = 0; count < 3; count += 1) {
      await pause()
      went.push(name)
    }
  }

  await Promise.all([goes('a'), goes('b'), goes('c')])

  expect(went.join('')).toBe('abcabcabc')
})
