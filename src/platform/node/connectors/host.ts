/**
 * ConnectorHost on Node: each session runs one Deno process (process.ts), started by its first call, and again by the
 * next call after it has ended. A process needs one of a limited number of slots (process-slots.ts). Deno is an
 * optional package; without it every call is refused.
 */
import { createRequire } from 'node:module'
import { ServiceError } from '../../../core/error.ts'
import type { ConnectorHost, ConnectorProgram, ConnectorReply, ConnectorSession } from '../../../ports/connectors.ts'
import { createConnectorLogger, type OnLogLine } from '../../connectors/connector-log.ts'
import { CRASH } from '../../connectors/reply.ts'
import type { NetworkOptions } from '../network/network.ts'
import { type ConnectorGate, openConnectorGate } from './gate.ts'
import { ConnectorProcess, type ProcessLimits } from './process.ts'
import { createProcessSlots, type ProcessSlot, type ProcessSlots, type SlotLimits } from './process-slots.ts'

/** `allowPrivate`: whether granted loopback, private and link-local hosts may be reached. */
export type NodeConnectorHostDeps = ProcessLimits &
  NetworkOptions & {
    /** Receives console output of connectors. */
    readonly onPrint?: OnLogLine
    readonly slotLimits?: SlotLimits
  }

export type NodeConnectorHost = ConnectorHost & {
  /** Ends every process; the host can be used again. */
  close(): Promise<void>
}

/** For callers that run a few connectors of their own, such as a connector's tests. */
const DEFAULT_LIMITS: SlotLimits = { total: 100, perOwner: 100, waitLimit: 10_000, queueLimit: 100 }

export function createNodeConnectorHost(deps: NodeConnectorHostDeps): NodeConnectorHost {
  const { allowPrivate, resolve, onPrint = () => {}, slotLimits = DEFAULT_LIMITS, ...limits } = deps
  const slots = createProcessSlots(slotLimits)
  const running = new Set<ConnectorProcess>()
  let opening: Promise<ConnectorGate> | undefined

  function gate(): Promise<ConnectorGate> {
    opening ??= openConnectorGate({ allowPrivate, ...(resolve && { resolve }) }).catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  function start(program: ConnectorProgram, { admit }: ConnectorGate): ConnectorProcess {
    const started = new ConnectorProcess(requireDeno(), program, {
      limits,
      print: createConnectorLogger({ connector: program.id, onPrint }),
      pass: admit(program.grant),
    })
    running.add(started)
    void started.gone.then(() => running.delete(started))
    return started
  }

  return {
    open(program) {
      const { workspace = '' } = program
      return openSession(() => openRun(slots, workspace, { gate, start: (opened) => start(program, opened) }))
    },
    async close() {
      await Promise.all([...running].map((one) => one.end()))
      running.clear()
      const closing = opening
      opening = undefined
      await (await closing)?.close()
    },
  }
}

function openSession(begin: () => Run): ConnectorSession {
  let current: Run | undefined
  return {
    async call(method, argument) {
      if (current === undefined || !current.takesCalls()) current = begin()
      return current.call((process) => process.call(method, argument))
    },
    async close() {
      const last = current
      current = undefined
      await last?.end()
    },
  }
}

/** The life of one process, from waiting for its slot to its end. */
type Run = {
  takesCalls(): boolean
  call(work: (process: ConnectorProcess) => Promise<ConnectorReply>): Promise<ConnectorReply>
  end(): Promise<void>
}

type Start = {
  readonly gate: () => Promise<ConnectorGate>
  readonly start: (gate: ConnectorGate) => ConnectorProcess
}

function openRun(slots: ProcessSlots, workspace: string, { gate, start }: Start): Run {
  let calls = 0
  /** Takes no new calls and ends after the current ones. */
  let isLeaving = false
  /** Has ended, even with calls in flight. */
  let hasEnded = false
  let slot: ProcessSlot | undefined
  let process: ConnectorProcess | undefined
  let starting: Promise<void> | undefined

  function evict(): void {
    isLeaving = true
    if (calls === 0) void process?.end()
  }

  async function enter(): Promise<void> {
    const { markIdle, release } = await slots.take(workspace, { isIdle: () => calls === 0, evict })
    slot = { markIdle, release }
    try {
      const opened = await gate()
      if (!hasEnded) process = start(opened)
    } finally {
      if (process === undefined) {
        hasEnded = true
        release()
      } else void process.gone.then(release)
    }
  }

  return {
    takesCalls: () => !isLeaving && !hasEnded && process?.isAlive !== false,
    async call(work) {
      // Counts calls that still wait for the process, so that it does not count as idle.
      calls += 1
      try {
        starting ??= enter().catch((error: unknown) => {
          hasEnded = true
          throw error
        })
        await starting
        return process === undefined ? CRASH : await work(process)
      } finally {
        calls -= 1
        if (isLeaving) evict()
        else if (calls === 0) slot?.markIdle()
      }
    },
    async end() {
      hasEnded = true
      await process?.end()
    },
  }
}

/** Resolves the binary, since the package's launcher would be an additional process. */
export function requireDeno(): string {
  const { platform, arch } = process
  const name = `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`
  try {
    const fromDeno = createRequire(createRequire(import.meta.url).resolve('deno/package.json'))
    return fromDeno.resolve(`${name}/deno`)
  } catch (cause) {
    throw new ServiceError('unavailable', 'Connectors cannot be run: the optional package deno is not installed', {
      cause,
    })
  }
}
