/**
 * The ConnectorHost on Node: every session is a Deno process of its own (connector-process.ts), started by the first call,
 * and by the next one after it has ended. Deno is an optional package; without it every call is refused.
 */
import { createRequire } from 'node:module'
import { ServiceError } from '../../core/error.ts'
import type { ConnectorHost, ConnectorProgram, ConnectorSession } from '../../ports.ts'
import { createPrinter, type OnPrint } from '../connectors/printed.ts'
import { ConnectorProcess, type ProcessLimits } from './connector-process.ts'

export type NodeConnectorHost = ConnectorHost & {
  /** Ends every process; the host can be used again. */
  close(): Promise<void>
}

/** `onPrint` is told what connectors print on their consoles. */
export function createNodeConnectorHost(limits: ProcessLimits, onPrint: OnPrint = () => {}): NodeConnectorHost {
  const running = new Set<ConnectorProcess>()

  function start(program: ConnectorProgram): ConnectorProcess {
    for (const other of running) if (!other.isAlive) running.delete(other)
    const started = new ConnectorProcess(requireDeno(), program, { limits, print: createPrinter(program.id, onPrint) })
    running.add(started)
    return started
  }

  return {
    open: (program) => openSession(() => start(program)),
    async close() {
      await Promise.all([...running].map((one) => one.end()))
      running.clear()
    },
  }
}

function openSession(start: () => ConnectorProcess): ConnectorSession {
  let current: ConnectorProcess | undefined
  return {
    async call(method, argument) {
      if (current === undefined || !current.isAlive) current = start()
      return current.call(method, argument)
    },
    async close() {
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
