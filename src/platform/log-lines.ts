/** Prints observations as JSON lines, but for mails, which somebody reads. Error details are for the operator, never for the caller. */
import type { Mail } from '../ports/accounts.ts'
import type { Observation, Observe } from '../ports/observe.ts'

/** Calls `write` with each line; `isTrouble` is true for errors and warnings. */
export function observeAsLines(write: (line: string, isProblem: boolean) => void): Observe {
  let at = 0
  let time = ''
  return (observation) => {
    // Cached per millisecond: formatting the time costs as much as the rest of a line.
    const now = Date.now()
    if (now !== at) time = new Date(now).toISOString()
    at = now
    if (observation.kind === 'request') write(requestLine(time, observation), false)
    else if (observation.kind === 'mail') write(mailText(observation.mail), false)
    else if (observation.kind !== 'drift')
      write(JSON.stringify({ time, ...content(observation) }), isProblem(observation))
  }
}

function isProblem(observation: Observation): boolean {
  if (observation.kind === 'connector') return observation.level !== 'info'
  return observation.kind === 'fault' || observation.kind === 'warning'
}

/** Built by hand, since there is one per request; only the path needs JSON escaping. */
function requestLine(time: string, of: Extract<Observation, { kind: 'request' }>): string {
  const { requestId, method, path, status, milliseconds } = of
  return `{"time":"${time}","kind":"request","requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)},"status":${status},"milliseconds":${milliseconds}}`
}

/** Every line of the text is marked, so that none can be taken for a line of the log. */
function mailText({ to, subject, text }: Mail): string {
  return [`Mail to ${to}: ${subject}`, ...text.split('\n').map((line) => `  | ${line}`)].join('\n')
}

export const observeOnConsole: Observe = observeAsLines((line, isProblem) => {
  if (isProblem) console.error(line)
  else console.log(line)
})

function content(observation: Exclude<Observation, { kind: 'request' | 'mail' | 'drift' }>): object {
  if (observation.kind !== 'fault') return observation
  const { error, ...rest } = observation
  return { ...rest, error: errorDetails(error) }
}

/** Messages along the cause chain, and the stack of the innermost error. */
function errorDetails(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, cause, stack } = error
  return {
    name,
    message,
    ...(cause === undefined ? { stack: stack?.split('\n').slice(1, 6) } : { cause: errorDetails(cause) }),
  }
}
