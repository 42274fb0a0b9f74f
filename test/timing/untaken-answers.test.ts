/** Answers that nobody takes, and bodies that do not go on, end with their connection; answers that come late, or are taken slowly, do not. */
import { connect } from 'node:net'
import { expect, it } from 'vitest'
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
