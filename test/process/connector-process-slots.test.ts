import { describe, expect, it } from 'vitest'
import {
  createProcessSlots,
  type ProcessSlot,
  type SlotLimits,
} from '../../src/platform/node/connectors/process-slots.ts'

const limits: SlotLimits = { total: 4, perOwner: 2, waitLimit: 60_000, queueLimit: 3 }

/** Somebody who wants a place, and who leaves it when asked and idle. */
function guest(places: ReturnType<typeof createProcessSlots>, owner: string, name: string, log: string[]) {
  let place: ProcessSlot | undefined
  let isBusy = true
  let isAsked = false
  const free = () => {
    log.push(`${name} out`)
    place?.release()
  }
  const entered = places
    .take(owner, {
      isIdle: () => !isBusy,
      evict() {
        isAsked = true
        log.push(`${name} asked`)
        if (!isBusy) free()
      },
    })
    .then((given) => {
      place = given
      log.push(`${name} in`)
    })
  // Some wait until their limit, long after the test.
  entered.catch(() => {})
  return {
    entered,
    rest() {
      isBusy = false
      if (isAsked) free()
      else place?.markIdle()
    },
  }
}

describe('places for processes', () => {
  it('end what was idle for longest to make room', async () => {
    const log: string[] = []
    const places = createProcessSlots({ ...limits, total: 2, perOwner: 2 })
    const [a, b] = [guest(places, 'x', 'a', log), guest(places, 'x', 'b', log)]
    await Promise.all([a.entered, b.entered])
    b.rest()
    a.rest()

    await guest(places, 'y', 'c', log).entered

    expect(log).toEqual(['a in', 'b in', 'b asked', 'b out', 'c in'])
  })

  it('let nobody have more than their share, and end only what is theirs for it', async () => {
    const log: string[] = []
    const places = createProcessSlots(limits)
    const idle = guest(places, 'y', 'other', log)
    const [a, b] = [guest(places, 'x', 'a', log), guest(places, 'x', 'b', log)]
    await Promise.all([idle.entered, a.entered, b.entered])
    idle.rest()

    const third = guest(places, 'x', 'c', log)
    await turn()
    expect(log).toEqual(['other in', 'a in', 'b in'])
    a.rest()
    await third.entered

    expect(log.slice(3)).toEqual(['a asked', 'a out', 'c in'])
  })

  it('let in whoever has the fewest first, though others came before', async () => {
    const log: string[] = []
    const places = createProcessSlots({ ...limits, total: 2 })
    const [a, b] = [guest(places, 'x', 'a', log), guest(places, 'z', 'b', log)]
    await Promise.all([a.entered, b.entered])

    const again = guest(places, 'x', 'again', log)
    const newcomer = guest(places, 'y', 'newcomer', log)
    await turn()
    b.rest()
    await newcomer.entered
    a.rest()
    await again.entered

    expect(log.filter((line) => line.endsWith(' in'))).toEqual(['a in', 'b in', 'newcomer in', 'again in'])
  })

  it('ask a busy one of the workspace that has most to leave, so that nobody is kept out by it', async () => {
    const log: string[] = []
    const places = createProcessSlots({ ...limits, total: 2 })
    const [a, b] = [guest(places, 'x', 'a', log), guest(places, 'x', 'b', log)]
    await Promise.all([a.entered, b.entered])

    const other = guest(places, 'y', 'c', log)
    await turn()
    expect(log).toEqual(['a in', 'b in', 'a asked'])
    a.rest()
    await other.entered

    expect(log.slice(3)).toEqual(['a out', 'c in'])
  })

  it('refuse who would make the line too long, of their own workspace only', async () => {
    const log: string[] = []
    const places = createProcessSlots({ ...limits, total: 1, perOwner: 1 })
    await guest(places, 'x', 'a', log).entered
    const waiting = Array.from({ length: 3 }, (_, index) => guest(places, 'x', `w${index}`, log))

    await expect(guest(places, 'x', 'b', log).entered).rejects.toMatchObject({ kind: 'unavailable' })
    const other = guest(places, 'y', 'c', log)
    await turn()

    expect(log).toEqual(['a in'])
    expect([...waiting, other]).toHaveLength(4)
  })

  it('refuse who has waited for long', async () => {
    const log: string[] = []
    const places = createProcessSlots({ ...limits, total: 1, perOwner: 1, waitLimit: 10 })
    const first = guest(places, 'x', 'a', log)
    await first.entered

    await expect(guest(places, 'y', 'b', log).entered).rejects.toMatchObject({ kind: 'unavailable' })
    first.rest()
    await guest(places, 'y', 'c', log).entered

    expect(log.at(-1)).toBe('c in')
  })
})

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
