/** Answers that nobody takes, and bodies that do not go on, end with their connection; answers that come late, or are taken slowly, do not. */
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { createAnswerRoom } from '../../src/platform/node/http/answer-room.ts'
import { openHttpServer } from '../../src/platform/node/http/http-server.ts'

it('cuts off whoever takes nothing of an answer, and nobody who waits for one', async () => {
  const whole = 'x'.repeat(64 * 1024 * 1024)
  const patience = 1_000
  const server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    maxHeaderSize: 16_384,
    patience,
    onClientError: (_, socket) => socket.destroy(),
    listener: ({ url }, response) =>
      url === '/late' ? setTimeout(() => response.end('late'), 3 * patience) : response.end(whole),
  })
  const idle = connect(Number(new URL(server.url).port), '127.0.0.1').pause()
  idle.on('error', () => undefined)
  const isCut = new Promise((resolve) => idle.once('close', resolve))
  idle.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')

  const taken = (await (await fetch(server.url)).text()).length
  const stalled = connect(Number(new URL(server.url).port), '127.0.0.1').resume()
  stalled.write('POST /late HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf')
  const isEnded = new Promise((resolve) => stalled.once('close', resolve))
  const late = await (await fetch(`${server.url}/late`)).text()
  idle.resume()
  await isCut
  await isEnded

  expect([taken, late]).toEqual([whole.length, 'late'])
  expect(idle.bytesRead).toBeLessThan(whole.length)
  await server.drain({ delay: 0, limit: 0 })
})

it('has others wait for whoever takes nothing for a moment only, where there is no room beside them', async () => {
  const whole = 'x'.repeat(64 * 1024 * 1024)
  const room = createAnswerRoom({ most: 1.5 * whole.length, patience: 1_000 })
  const answered: boolean[] = []
  const closings: Promise<unknown>[] = []
  const server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    maxHeaderSize: 16_384,
    onClientError: (_, socket) => socket.destroy(),
    listener: (_, response) => {
      answered.push(room.hold(response, whole.length))
      closings.push(new Promise((resolve) => response.once('close', resolve)))
      response.end(whole)
    },
  })
  const open = () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause()
    socket.on('error', () => undefined)
    return socket
  }
  const ask = (socket: Socket, times = 1) => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(times))
  const idle = open()
  ask(idle)
  await expect.poll(() => answered).toEqual([true])

  const others = [await fetch(server.url), await fetch(server.url)]
  const lengths = await Promise.all(others.map(async (other) => (await other.text()).length))
  await closings[0]
  idle.destroy()
  // Two answers of one connection, of which the second waits behind the first.
  const left = open()
  ask(left, 2)
  await expect.poll(() => answered.length).toBe(5)
  left.destroy()
  await closings[3]
  await (await fetch(server.url)).text()

  expect(lengths).toEqual([whole.length, whole.length])
  expect(idle.bytesRead).toBeLessThan(whole.length)
  expect(answered).toEqual([true, false, false, true, false, true])
  await server.drain({ delay: 0, limit: 0 })
})
