/**
 * Converts console output of connectors to log lines of the service. It comes from the isolate and is parsed like any
 * external input: invalid lines are dropped, and output is truncated and rate limited.
 */
import type { ConnectorLine } from '../../ports/connectors.ts'

/** Takes an untrusted line: `[level, text]`. */
export type ConnectorLogger = (line: unknown) => void

/** Receives each line, with the id of the connector's session. */
export type OnLogLine = (line: ConnectorLine) => void

/** Maximum lines of one session within INTERVAL milliseconds; of further lines only the number is reported. */
const MOST_LINES = 100
const INTERVAL = 10_000
const LONGEST_LINE = 4_096

export type ConnectorLoggerDeps = {
  readonly connector: string
  readonly onPrint: OnLogLine
  /** In milliseconds. */
  readonly now?: () => number
}

export function createConnectorLogger(deps: ConnectorLoggerDeps): ConnectorLogger {
  const { connector, onPrint, now = Date.now } = deps
  let since = 0
  let count = 0

  return (line) => {
    const read = readLine(line)
    if (read === undefined) return
    const at = now()
    if (at - since > INTERVAL) {
      const dropped = count - MOST_LINES
      if (dropped > 0) onPrint({ connector, level: 'warn', message: `${dropped} more lines were printed` })
      since = at
      count = 0
    }
    count += 1
    if (count <= MOST_LINES) onPrint({ connector, ...read })
  }
}

function readLine(line: unknown): Pick<ConnectorLine, 'level' | 'message'> | undefined {
  if (!Array.isArray(line) || typeof line[1] !== 'string') return undefined
  const level = levels.find((known) => known === line[0]) ?? 'info'
  return { level, message: line[1].slice(0, LONGEST_LINE) }
}

const levels = ['info', 'warn', 'error'] as const
