/** Connections that no request outlives: which are used again, and that none is left open. */
import { expect, it } from 'vitest'
import { createLending, type RequestEnd } from '../../src/platform/drivers/lending.ts'

function lending() {
  const open = new Set<number>()
  let count = 0
  const current: { request: RequestEnd | undefined } = { request: undefined }
  const { take, giveBack } = createLending<number>({
    open: async () => {
      open.add(++count)
      return count
    },
    close: (connection) => open.delete(connection),
    isCrowded: () => false,
    isOpen: (connection) => open.has(connection),
    request: () => current.request,
  })
  const end = (request: RequestEnd) => {
    for (const one of request) one()
  }
  return { take, giveBack, end, current, open }
}

it('uses a connection again in its request, and closes it with the request', async () => {
  const { take, giveBack, end, current, open } = lending()
  const [first, second]: RequestEnd[] = [new Set(), new Set()]
  current.request = first
  giveBack(await take())
  const again = await take()
  current.request = second
  const other = await take()
  current.request = first
  giveBack(again)
  end(first ?? new Set())

  expect([again, other]).toEqual([1, 2])
  expect([...open]).toEqual([other])
})

it('closes at once what is given back outside of a request, or after its end', async () => {
  const { take, giveBack, end, current, open } = lending()
  giveBack(await take())
  const request: RequestEnd = new Set()
  current.request = request
  giveBack(await take())
  const running = await take()
  end(request)
  giveBack(running)
  giveBack(await take())

  expect([...open]).toEqual([])
})
