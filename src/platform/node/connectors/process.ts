/**
 * One Deno process that runs one connector. Input is JSON lines on stdin; answers come on stdout, prefixed with a token
 * that the connector does not know (connectors/deno.isolate.js).
 * - It may connect to the gate only (gate.ts). All other permissions are denied, its environment is empty, and the
 *   kernel limits its memory.
 * - If it gives no sign of life for `busyLimit`, it is killed with all calls in flight. A call that exceeds `timeLimit`
 *   in a live process is abandoned alone.
 * - Without calls it is soon stopped (SIGSTOP), so that it does not run code of its own accord, and ended after
 *   `idleLimit`.
 * - It dies with this process, however this process ends.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { ServiceError } from '../../../core/error.ts'
import { parseJson } from '../../../core/exact-json.ts'
import type { ConnectorMethod, ConnectorProgram, ConnectorReply } from '../../../ports/connectors.ts'
import type { ConnectorLogger } from '../../connectors/connector-log.ts'
import { parseReply } from '../../connectors/reply.ts'
import { createFrames } from './frames.ts'
import type { GatePass } from './gate.ts'

export type ProcessLimits = {
  /** Maximum milliseconds per call. */
  readonly timeLimit: number
  /** Maximum milliseconds that the code may block its thread. */
  readonly busyLimit: number
  /** Milliseconds without a call after which the process ends. */
  readonly idleLimit: number
  /** Maximum MiB of the JavaScript heap. */
  readonly memoryLimit: number
}

/** The pass belongs to this process and is revoked with it. */
export type ProcessOptions = {
  readonly limits: ProcessLimits
  readonly print: ConnectorLogger
  readonly pass: GatePass
}

type Pending = {
  readonly resolve: (reply: ConnectorReply) => void
  readonly reject: (error: ServiceError) => void
  readonly timer: NodeJS.Timeout
}

type EndReason = Extract<ConnectorReply, { kind: 'ended' }>['reason']

export class ConnectorProcess {
  /** Resolves when the process has ended completely. */
  readonly gone: Promise<void>
  readonly #child: ChildProcess
  readonly #input: Writable
  /** Takes signal names for the process; closing it kills the process. */
  readonly #control: Writable
  readonly #limits: ProcessLimits
  readonly #print: ConnectorLogger
  readonly #pass: GatePass
  readonly #pending = new Map<number, Pending>()
  readonly #rest: NodeJS.Timeout
  #nextId = 1
  #isReady = false
  #isAlive = true
  #isStopped = false
  #endReason: EndReason | undefined
  #stderr = ''
  #watch: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  /** When the pending sign of life was requested. */
  #requestedAt: number | undefined
  #lastCheck = 0

  /** Throws ServiceError `unavailable` where the machine has no process or file descriptor left. */
  constructor(deno: string, { code, config, grant }: ConnectorProgram, { limits, print, pass }: ProcessOptions) {
    this.#limits = limits
    this.#print = print
    this.#pass = pass
    const dataLimit = String((limits.memoryLimit + MEMORY_BESIDES) * 1024)
    this.#child = spawn('/bin/sh', ['-c', LAUNCHER, 'sh', dataLimit, deno, ...flags(pass.port, limits)], {
      cwd: '/',
      // A signal to our process group, such as Ctrl-C, must not end processes that current requests need.
      detached: true,
      env: ENVIRONMENT,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    if (this.#child.pid === undefined) {
      // It has no pipes where no file descriptor is left, and says why in another turn.
      this.#child.on('error', () => {})
      pass.revoke()
      throw new ServiceError('unavailable', CANNOT_RUN)
    }
    // All four are pipes, as configured above.
    const [input, output, errors, control] = this.#child.stdio as unknown as [Writable, Readable, Readable, Writable]
    this.#input = input
    this.#control = control
    // The calls of failed writes are answered when the process ends.
    for (const stream of [input, control]) stream.on('error', () => {})
    const token = randomBytes(16).toString('hex')
    const frames = createFrames({
      token: `${token} `,
      onAnswer: (content) => this.#hear(content),
      onFlood: () => this.#kill('memory'),
    })
    output.on('data', frames.receive)
    errors.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_LIMIT)
    })
    this.gone = this.#awaitEnd(output)
    this.#rest = setTimeout(() => this.#stop(), REST_AFTER).unref()
    this.#ask({ token, code, config, gate: { port: pass.port, pass: pass.pass, grant } })
  }

  /** Whether the process can take calls; once false, it stays false. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Throws ServiceError `unavailable` if the process cannot start. */
  call(method: ConnectorMethod, argument: unknown): Promise<ConnectorReply> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId
      this.#nextId += 1
      const timer = setTimeout(() => this.#settle(id, TOO_LONG), this.#limits.timeLimit).unref()
      this.#pending.set(id, { resolve, reject, timer })
      if (this.#pending.size === 1) this.#wake()
      this.#send({ id, method, argument })
    })
  }

  /** Kills the process and waits for its end; calls in flight get the reply `ended`. */
  async end(): Promise<void> {
    this.#kill('crash')
    await this.gone
  }

  #hear(content: string): void {
    const [head = '', id] = REPLY.exec(content) ?? []
    if (id === undefined && content.length > LONGEST_NOTICE) return
    try {
      const { print } = (id === undefined ? parseJson(content) : {}) as { print?: unknown }
      // Printing is no sign of life, since an endless loop may print.
      if (print !== undefined) {
        this.#print(print)
        return
      }
    } catch {
      // Only a connector that found out the token can cause this.
      return
    }
    this.#isReady = true
    this.#requestedAt = undefined
    // What came too late is not read.
    if (this.#pending.has(Number(id))) this.#settle(Number(id), parseReply(content.slice(head.length, -1)))
  }

  #settle(id: number, reply: ConnectorReply): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    clearTimeout(pending.timer)
    if (this.#pending.size === 0) this.#rest.refresh()
    pending.resolve(reply)
  }

  #wake(): void {
    clearTimeout(this.#idle)
    if (this.#isStopped) this.#signal('CONT')
    this.#isStopped = false
    this.#lastCheck = performance.now()
    if (this.#isReady) this.#requestedAt = undefined
    this.#watch ??= setInterval(() => this.#checkAlive(), this.#checkInterval()).unref()
  }

  #stop(): void {
    if (this.#pending.size > 0 || !this.#isAlive) return
    clearInterval(this.#watch)
    this.#watch = undefined
    this.#signal('STOP')
    this.#isStopped = true
    this.#idle = setTimeout(() => this.#kill('crash'), this.#limits.idleLimit).unref()
  }

  /** Requests a sign of life, and kills the process if the last one is overdue. */
  #checkAlive(): void {
    const now = performance.now()
    const wasLate = now - this.#lastCheck > 3 * this.#checkInterval()
    this.#lastCheck = now
    if (this.#requestedAt === undefined) {
      this.#ask({})
      return
    }
    // If our own thread was blocked, the answer may be waiting to be read.
    if (wasLate) this.#requestedAt = now
    const limit = this.#isReady ? this.#limits.busyLimit : START_LIMIT
    if (now - this.#requestedAt > limit) this.#kill('time')
  }

  #checkInterval(): number {
    return Math.min(1_000, this.#limits.busyLimit / 2)
  }

  #ask(message: object): void {
    this.#requestedAt = performance.now()
    this.#send(message)
  }

  #send(message: object): void {
    this.#input.write(`${JSON.stringify(message)}\n`)
  }

  #kill(reason: EndReason): void {
    this.#endReason ??= reason
    this.#isAlive = false
    this.#control.end()
  }

  #signal(name: 'STOP' | 'CONT'): void {
    this.#control.write(`${name}\n`)
  }

  async #awaitEnd(output: Readable): Promise<void> {
    const fault = await Promise.race([
      once(output, 'close').then(() => undefined),
      once(this.#child, 'error').then(([error]: unknown[]) => error),
    ])
    this.#isAlive = false
    this.#pass.revoke()
    clearTimeout(this.#rest)
    clearTimeout(this.#idle)
    clearInterval(this.#watch)
    this.#control.end()
    if (fault === undefined && this.#child.exitCode === null) await once(this.#child, 'exit')
    const reason = this.#endReason ?? (OUT_OF_MEMORY.test(this.#stderr) ? 'memory' : 'crash')
    for (const { resolve, reject, timer } of this.#pending.values()) {
      clearTimeout(timer)
      if (this.#isReady || this.#endReason !== undefined) resolve({ kind: 'ended', reason })
      else reject(new ServiceError('unavailable', CANNOT_RUN, { cause: fault ?? new Error(this.#stderr.trim()) }))
    }
    this.#pending.clear()
  }
}

/** How an answer to a call begins (connectors/deno.isolate.js). */
const REPLY = /^\{"id":(\d+),"reply":/

/** Maximum characters of a printed line, or of a sign of life. */
const LONGEST_NOTICE = 64 * 1024

const TOO_LONG: ConnectorReply = { kind: 'ended', reason: 'time', isAlone: true }
const CANNOT_RUN = 'Connectors cannot be run'

/** Milliseconds without a call until the process is stopped. */
const REST_AFTER = 1_000

/** Maximum milliseconds for a process to start on a loaded machine. */
const START_LIMIT = 30_000

/**
 * MiB of writable memory that Deno needs besides the heap: V8 reserves 512 for code without using them; the rest is for
 * buffers, stacks and Deno itself. A second JavaScript thread would need as much again, so none is allowed.
 */
const MEMORY_BESIDES = 704

const STDERR_LIMIT = 4_096
const OUT_OF_MEMORY = /out of memory|memory allocation of|allocation failed/i

/** No cache directory, so that connectors cannot leave data for each other. */
const ENVIRONMENT = { DENO_DIR: '/dev/null/none', DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' }

/**
 * Runs the command as a child under a data limit in KiB and forwards the signals named on descriptor 3. When that
 * descriptor closes, which the death of our process also causes, it kills the child and waits for it: nothing remains,
 * and no signal can hit a process that reuses the id.
 */
const LAUNCHER = `
ulimit -d "$1"; shift
exec 4<&0
nice -n 5 "$@" <&4 4<&- 3<&- &
exec 0<&- 1>&- 2>&- 4<&-
while read -r signal <&3; do kill -s "$signal" $!; done
kill -s KILL $!
wait $!`

const PROGRAM = join(import.meta.dirname, '../../connectors/deno.isolate.js')

function flags(gatePort: number, { memoryLimit }: ProcessLimits): readonly string[] {
  return [
    'run',
    ...['--no-prompt', '--no-config', '--no-remote', '--no-npm', '--no-lock', '--cached-only'],
    `--allow-net=127.0.0.1:${gatePort}`,
    `--v8-flags=--max-old-space-size=${memoryLimit}`,
    PROGRAM,
  ]
}
