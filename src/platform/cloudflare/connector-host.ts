/**
 * ConnectorHost on Workers: the Worker Loader starts one isolate per session, and the gate is its only network access.
 * The runtime ends code that exceeds its CPU or memory limit; a call is given up here after `timeLimit`. After a
 * session was closed, or its isolate did not answer, the next call starts a new isolate.
 */
import type { ConnectorHost, ConnectorProgram, ConnectorReply, ConnectorSession } from '../../ports/connectors.ts'
import { createConnectorLogger, type OnLogLine } from '../connectors/connector-log.ts'
import { factoryOf } from '../connectors/factory.ts'
import type { IsolateRuntime } from '../connectors/isolate-runtime.ts'
import { CRASH, parseReply } from '../connectors/reply.ts'
import type { GateProps } from './gate.ts'

export type CloudflareConnectorHostOptions = {
  readonly loader: WorkerLoader
  /** Returns the gate bound to a grant: a loopback binding of the Worker's own export. */
  readonly openGate: (props: GateProps) => Fetcher
  readonly runtime: IsolateRuntime
  readonly limits: IsolateLimits
  /** Receives console output of connectors. Output of an ended isolate since its last answer is lost. */
  readonly onPrint?: OnLogLine
}

export type IsolateLimits = {
  /** Maximum milliseconds per call. */
  readonly timeLimit: number
  /** Maximum milliseconds of CPU time; the local workerd does not enforce it. */
  readonly busyLimit: number
  /** Whether granted loopback, private and link-local hosts may be reached. */
  readonly allowPrivate: boolean
}

export function createCloudflareConnectorHost(options: CloudflareConnectorHostOptions): ConnectorHost {
  return { open: (program) => openSession(program, options) }
}

/** The same on both platforms, so that connectors see the same runtime features. */
const COMPATIBILITY_DATE = '2026-10-01'

type Entrypoint = { call(method: string, argument: string | undefined): Promise<unknown> }

function openSession(program: ConnectorProgram, options: CloudflareConnectorHostOptions): ConnectorSession {
  const factory = factoryOf(program.code)
  const print = createConnectorLogger({ connector: program.id, onPrint: options.onPrint ?? (() => {}) })
  // The loader caches isolates by name, so each name is used once, by one session.
  let name = crypto.randomUUID()
  let closed = Promise.withResolvers<ConnectorReply>()

  function restart(): void {
    name = crypto.randomUUID()
    closed = Promise.withResolvers()
  }

  async function ask(method: string, argument: string | undefined): Promise<ConnectorReply> {
    if ('fault' in factory) return { kind: 'unloadable', message: factory.fault, denied: false }
    const entrypoint = options.loader
      .get(name, () => workerCode(program, factory.code, options))
      .getEntrypoint() as unknown as Entrypoint
    try {
      const { text, printed } = readAnswer(await entrypoint.call(method, argument))
      for (const line of printed) print(line)
      return typeof text === 'string' ? parseReply(text) : CRASH
    } catch (error) {
      return failure(error)
    }
  }

  return {
    async call(method, argument) {
      const nameAtCall = name
      const text = argument === undefined ? undefined : JSON.stringify(argument)
      const reply = await withinTime(Promise.race([ask(method, text), closed.promise]), options.limits.timeLimit)
      if (reply.kind === 'ended' && name === nameAtCall) restart()
      return reply
    },
    async close() {
      const { resolve } = closed
      restart()
      resolve(CRASH)
    },
  }
}

function workerCode(
  { config, grant }: ConnectorProgram,
  connector: string,
  { openGate, runtime, limits }: CloudflareConnectorHostOptions,
): WorkerLoaderWorkerCode {
  return {
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ['nodejs_compat'],
    mainModule: 'main.js',
    modules: { 'main.js': runtime.main, 'dispatch.js': runtime.dispatch, 'connector.js': connector },
    env: { config: JSON.stringify(config ?? null) },
    globalOutbound: openGate({ grant, allowPrivate: limits.allowPrivate }),
    limits: { cpuMs: limits.busyLimit },
  }
}

/** Untrusted: the connector may have tampered with the answer. */
function readAnswer(answer: unknown): { readonly text: unknown; readonly printed: readonly unknown[] } {
  if (typeof answer !== 'object' || answer === null || !('text' in answer) || !('printed' in answer)) {
    return { text: undefined, printed: [] }
  }
  return { text: answer.text, printed: Array.isArray(answer.printed) ? answer.printed : [] }
}

async function withinTime(reply: Promise<ConnectorReply>, limit: number): Promise<ConnectorReply> {
  const { promise, resolve } = Promise.withResolvers<ConnectorReply>()
  const timer = setTimeout(() => resolve({ kind: 'ended', reason: 'time', isAlone: true }), limit)
  try {
    return await Promise.race([reply, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Converts an error of the runtime, for an isolate that could not start or was ended. */
function failure(error: unknown): ConnectorReply {
  const message = error instanceof Error ? error.message : String(error)
  const [, syntax] = /(SyntaxError: [^\n]*)/.exec(message) ?? []
  if (syntax !== undefined) return { kind: 'unloadable', message: syntax, denied: false }
  // The runtime reports an isolate that waits for nothing as hung.
  if (/\bcpu\b|had hung/i.test(message)) return { kind: 'ended', reason: 'time' }
  // An answer of more than 32 MiB, LONGEST_REPLY of Node, is refused by the runtime.
  if (/memory|limited to 32MiB/i.test(message)) return { kind: 'ended', reason: 'memory' }
  return CRASH
}
