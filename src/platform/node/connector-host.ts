/**
 * The ConnectorHost on Node: every session is a Deno process of its own (connector-process.ts), started by the first call,
 * and by the next one after it has ended. Deno is an optional package; without it every call is refused.
 */
import { createRequire } from 'node:module'
import { ServiceError } from '../../core/error.ts'
import type { ConnectorHost, ConnectorProgram, ConnectorSession } from '../../ports.ts'
import { createPrinter, type OnPrint } from '../connectors/printed.ts'
import { CRASH } from '../connectors/reply.ts'
import { type ConnectorGate, openConnectorGate } from './connector-gate.ts'
import { ConnectorProcess, type ProcessLimits } from './connector-process.ts'
import type { NetworkOptions } from './network.ts'

/** `allowPrivate`: whether loopback, private and link-local hosts may be reached where they are granted. */
export type NodeHostOptions = ProcessLimits & NetworkOptions

export type NodeConnectorHost = ConnectorHost & {
  /** Ends every process; the host can be used again. */
  close(): Promise<void>
}

/** `onPrint` is told what connectors print on their consoles. */
export function createNodeConnectorHost(
  { allowPrivate, resolve, ...limits }: NodeHostOptions,
  onPrint: OnPrint = () => {},
): NodeConnectorHost {
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
    for (const other of running) if (!other.isAlive) running.delete(other)
    const started = new ConnectorProcess(requireDeno(), program, {
      limits,
      print: createPrinter(program.id, onPrint),
      pass: admit(program.grant),
    })
    running.add(started)
    return started
  }

  return {
    open: (program) => openSession(gate, (opened) => start(program, opened)),
    async close() {
      await Promise.all([...running].map((one) => one.end()))
      running.clear()
      const closing = opening
      opening = undefined
      await (await closing)?.close()
    },
  }
}

function openSession(
  gate: () => Promise<ConnectorGate>,
  start: (gate: ConnectorGate) => ConnectorProcess,
): ConnectorSession {
  let current: ConnectorProcess | undefined
  let closings = 0
  return {
    async call(method, argument) {
      const before = closings
      const opened = await gate()
      if (closings !== before) return CRASH
      if (current === undefined || !current.isAlive) current = start(opened)
      return current.call(method, argument)
    },
    async close() {
      closings += 1
      const last = current
      current = undefined
      await last?.end()
    },
  }
}

/** The binary itself, because the package's own launcher would be one more process. */
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
