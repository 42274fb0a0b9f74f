/**
 * What a connector printed on its console → lines for the log of the service. They come out of the isolate, so they are
 * read like any input from outside: of what is no line nothing is kept, and a connector that prints without end is cut.
 */
import type { ConnectorLine } from '../../ports.ts'

/** Takes what is said to be a line: `[level, text]`. */
export type ConnectorLogger = (line: unknown) => void

/** Told of each line, with the id of the connector's session. */
export type OnLogLine = (line: ConnectorLine) => void

/** Lines of one session within INTERVAL milliseconds; of the rest only the number is told. */
const MOST_LINES = 100
const INTERVAL = 10_000
const LONGEST_LINE = 4_096

/** `now` is in milliseconds. */
export function createConnectorLogger(
  connector: string,
  onPrint: OnLogLine,
  now: () => number = Date.now,
): ConnectorLogger {
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
