/**
 * The load generator: keep-alive connections that each send a request, wait for the whole response and send the next.
 * It reads only status and length, so that one core of it can saturate one core of a server.
 */
import { connect, type Socket } from 'node:net'
import { answerParent } from './child.ts'

export type LoadOrder = {
  readonly port: number
  readonly connections: number
  /** Ends after this time, or after this many responses per connection. */
  readonly seconds: number
  readonly perConnection?: number
  /** Complete HTTP/1.1 requests, sent in rotation; `{unique}` is another text in each. */
  readonly requests: readonly string[]
}

export type LoadResult = { readonly perSecond: number; readonly p50: number; readonly p99: number }

const UNIQUE = '{unique}'

answerParent(runLoad)

async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const requests = order.requests.map((text) => (text.includes(UNIQUE) ? text : Buffer.from(text)))
  const start = performance.now()
  const run: Run = { ...order, requests, deadline: start + order.seconds * 1_000, sent: 0, times: [] }
  await Promise.all(Array.from({ length: order.connections }, () => useConnection(run)))
  const elapsed = performance.now() - start
  const times = Float64Array.from(run.times).sort()
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
  return { perSecond: (times.length / elapsed) * 1_000, p50: at(0.5), p99: at(0.99) }
}

type Run = Omit<LoadOrder, 'requests'> & {
  readonly requests: readonly (Buffer | string)[]
  readonly deadline: number
  readonly times: number[]
  sent: number
}

function useConnection(run: Run): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket: Socket = connect({ port: run.port, host: '127.0.0.1', noDelay: true })
  let left = run.perConnection ?? Number.POSITIVE_INFINITY
  let sentAt = 0
  let answer: Answer | undefined

  const next = () => {
    sentAt = performance.now()
    if (sentAt >= run.deadline || left <= 0) {
      socket.destroy()
      resolve()
      return
    }
    left -= 1
    const request = run.requests[run.sent % run.requests.length] ?? ''
    run.sent += 1
    socket.write(typeof request === 'string' ? request.replace(UNIQUE, `${sentAt}-${run.sent}`) : request)
  }

  socket.on('connect', next)
  socket.on('data', (chunk) => {
    answer = answer === undefined ? readHead(chunk) : readOn(answer, chunk)
    if (answer.fault !== undefined) socket.destroy(new Error(answer.fault))
    if (!answer.isComplete) return
    answer = undefined
    run.times.push(performance.now() - sentAt)
    next()
  })
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('the server closed a connection')))
  return promise
}

/** `left` is undefined while the length is unknown: in the head, and in a chunked response. */
type Answer = {
  readonly head: Buffer | undefined
  readonly left: number | undefined
  readonly isComplete: boolean
  readonly fault?: string
}

function readHead(chunk: Buffer): Answer {
  const end = chunk.indexOf('\r\n\r\n')
  if (end < 0) return { head: chunk, left: undefined, isComplete: false }
  const head = chunk.toString('latin1', 0, end)
  if (!head.startsWith('HTTP/1.1 200')) {
    return { head: undefined, left: 0, isComplete: false, fault: chunk.toString().slice(0, 2_000) }
  }
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) return { head: undefined, left: undefined, isComplete: isLastChunk(chunk) }
  const left = Number(length) - (chunk.length - end - 4)
  return { head: undefined, left, isComplete: left <= 0 }
}

function readOn(answer: Answer, chunk: Buffer): Answer {
  if (answer.head !== undefined) return readHead(Buffer.concat([answer.head, chunk]))
  if (answer.left === undefined) return { ...answer, isComplete: isLastChunk(chunk) }
  const left = answer.left - chunk.length
  return { head: undefined, left, isComplete: left <= 0 }
}

/** No request is sent before the response has ended, so the response ends with the received data. */
function isLastChunk(chunk: Buffer): boolean {
  return chunk.toString('latin1', chunk.length - 5) === '0\r\n\r\n'
}
