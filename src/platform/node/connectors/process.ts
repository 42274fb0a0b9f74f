/**
 * One Deno process that runs one connector. JSON lines on stdin, answers on stdout behind a token that the connector does
 * not know (connectors/deno.isolate.js).
 *
 * - It may connect to the gate and nowhere else (gate.ts), everything else is denied, its environment is empty, the
 *   kernel bounds its memory.
 * - Where it gives no sign of life for `busyLimit` its code runs away: it is killed, with all calls in flight. A call that
 *   takes longer than `timeLimit` while the process lives is given up alone.
 * - Without a call it is stopped after a moment (SIGSTOP), so that nothing runs on behalf of nobody, and ended after
 *   `idleLimit`.
 * - It dies with our own process, however that ends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { ServiceError } from '../../../core/error.ts'
import type { ConnectorMethod, ConnectorProgram, ConnectorReply } from '../../../ports.ts'
import type { ConnectorLogger } from '../../connectors/connector-log.ts'
import { readReply } from '../../connectors/reply.ts'
import { createFrames } from './frames.ts'
import type { GatePass } from './gate.ts'

export type ProcessLimits = {
  /** Milliseconds that one call may take. */
  readonly timeLimit: number
  /** Milliseconds that the code may hold its thread. */
  readonly busyLimit: number
  /** Milliseconds without a call. */
  readonly idleLimit: number
  /** MiB of the JavaScript heap. */
  readonly memoryLimit: number
}

/** The pass is this process's own and ends with it. */
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
  /** When nothing of it is left. */
  readonly gone: Promise<void>
  readonly #child: ChildProcess
  readonly #input: Writable
  /** Takes names of signals for the process; its end kills. */
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
  #lastWords = ''
  #watch: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  /** Since when a sign of life is owed. */
  #askedAt: number | undefined
  #lastLook = 0

  constructor(deno: string, { code, config, grant }: ConnectorProgram, { limits, print, pass }: ProcessOptions) {
    this.#limits = limits
    this.#print = print
    this.#pass = pass
    const dataLimit = String((limits.memoryLimit + MEMORY_BESIDES) * 1024)
    this.#child = spawn('/bin/sh', ['-c', LAUNCHER, 'sh', dataLimit, deno, ...flags(pass.port, limits)], {
      cwd: '/',
      // A signal to our process group, such as Ctrl-C, must not end what requests in flight still need.
      detached: true,
      env: ENVIRONMENT,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    // All four are pipes, as asked for above.
    const [input, output, errors, control] = this.#child.stdio as unknown as [Writable, Readable, Readable, Writable]
    this.#input = input
    this.#control = control
    // What cannot be written belongs to a call that is answered when the process has ended.
    for (const stream of [input, control]) stream.on('error', () => {})
    const token = randomBytes(16).toString('hex')
    const frames = createFrames(
      `${token} `,
      (content) => this.#hear(content),
      () => this.#kill('memory'),
    )
    output.on('data', frames.receive)
    errors.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-LONGEST_LAST_WORDS)
    })
    this.gone = this.#awaitEnd(output)
    this.#rest = setTimeout(() => this.#stop(), REST_AFTER).unref()
    this.#ask({ token, code, config, gate: { port: pass.port, pass: pass.pass, grant } })
  }

  /** Whether it can take calls. One that has ended never comes back. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Throws ServiceError `unavailable` where the process cannot even start. */
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

  /** Kills the process and waits until it is gone; calls in flight are answered `ended`. */
  async end(): Promise<void> {
    this.#kill('crash')
    await this.gone
  }

  #hear(content: string): void {
    try {
      const { id, reply, print }: { id?: unknown; reply?: unknown; print?: unknown } = JSON.parse(content)
      // A loop that prints gives no sign of life by it.
      if (print !== undefined) {
        this.#print(print)
        return
      }
      this.#isReady = true
      this.#askedAt = undefined
      if (typeof id === 'number') this.#settle(id, readReply(reply))
    } catch {
      // Only a connector that has found the token out gets here; its call runs into the time limit.
    }
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
    this.#lastLook = Date.now()
    if (this.#isReady) this.#askedAt = undefined
    this.#watch ??= setInterval(() => this.#look(), this.#lookEvery()).unref()
  }

  #stop(): void {
    if (this.#pending.size > 0 || !this.#isAlive) return
    clearInterval(this.#watch)
    this.#watch = undefined
    this.#signal('STOP')
    this.#isStopped = true
    this.#idle = setTimeout(() => this.#kill('crash'), this.#limits.idleLimit).unref()
  }

  /** Asks for a sign of life, and kills where the last one asked for has not come. */
  #look(): void {
    const now = Date.now()
    const wasLate = now - this.#lastLook > 3 * this.#lookEvery()
    this.#lastLook = now
    if (this.#askedAt === undefined) {
      this.#ask({})
      return
    }
    // Where our own thread was held, the sign may be waiting to be read.
    if (wasLate) this.#askedAt = now
    const limit = this.#isReady ? this.#limits.busyLimit : START_LIMIT
    if (now - this.#askedAt > limit) this.#kill('time')
  }

  #lookEvery(): number {
    return Math.min(1_000, this.#limits.busyLimit / 2)
  }

  #ask(message: object): void {
    this.#askedAt = Date.now()
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
    const reason = this.#endReason ?? (OUT_OF_MEMORY.test(this.#lastWords) ? 'memory' : 'crash')
    for (const { resolve, reject, timer } of this.#pending.values()) {
      clearTimeout(timer)
      if (this.#isReady || this.#endReason !== undefined) resolve({ kind: 'ended', reason })
      else reject(new ServiceError('unavailable', CANNOT_RUN, { cause: fault ?? new Error(this.#lastWords.trim()) }))
    }
    this.#pending.clear()
  }
}

const TOO_LONG: ConnectorReply = { kind: 'ended', reason: 'time' }
const CANNOT_RUN = 'Connectors cannot be run'

/** Milliseconds until a process without a call is stopped. */
const REST_AFTER = 1_000

/** Milliseconds that a machine under load may need to bring up a process. */
const START_LIMIT = 30_000

/**
 * MiB of writable memory that Deno needs besides the heap: V8 reserves 512 of them for code without using them, the rest is
 * for buffers, stacks and Deno itself. A second thread of JavaScript would need as much again, so that there is none.
 */
const MEMORY_BESIDES = 704

const LONGEST_LAST_WORDS = 4_096
const OUT_OF_MEMORY = /out of memory|memory allocation of|allocation failed/i

/** No directory for Deno's own: nothing is kept, so that no connector leaves anything for another. */
const ENVIRONMENT = { DENO_DIR: '/dev/null/none', DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' }

/**
 * Runs the command under a data limit in KiB, as a child of its own, and passes it the signals that are named on descriptor
 * 3. At the end of that, which also the death of our process brings, it kills and waits: nothing is left behind, and no
 * signal ever meets a process that has taken over the number.
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
