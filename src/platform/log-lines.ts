/** Observations as JSON lines, one each; what an error was is for the operator, never for the caller. */
import type { Observation, Observe } from '../ports.ts'

/** `write` gets each line with whether it tells of something that went wrong. */
export function observeAsLines(write: (line: string, isTrouble: boolean) => void): Observe {
  let at = 0
  let time = ''
  return (observation) => {
    // A busy process writes many lines in one millisecond, and the text of a time costs as much as the rest of a line.
    const now = Date.now()
    if (now !== at) time = new Date(now).toISOString()
    at = now
    if (observation.kind === 'request') write(requestLine(time, observation), false)
    else write(JSON.stringify({ time, ...content(observation) }), isTrouble(observation))
  }
}

function isTrouble(observation: Observation): boolean {
  if (observation.kind === 'connector') return observation.level !== 'info'
  return observation.kind === 'fault' || observation.kind === 'warning'
}

/** Put together by hand: there is one for every request, and only the path can hold what JSON has to escape. */
function requestLine(time: string, of: Extract<Observation, { kind: 'request' }>): string {
  const { requestId, method, path, status, milliseconds } = of
  return `{"time":"${time}","kind":"request","requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)},"status":${status},"milliseconds":${milliseconds}}`
}

export const observeOnConsole: Observe = observeAsLines((line, isTrouble) => {
  if (isTrouble) console.error(line)
  else console.log(line)
})

function content(observation: Observation): object {
  if (observation.kind !== 'fault') return observation
  const { error, ...rest } = observation
  return { ...rest, error: story(error) }
}

/** Messages along the causes, and where the innermost one was thrown. */
function story(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, cause, stack } = error
  return {
    name,
    message,
    ...(cause === undefined ? { stack: stack?.split('\n').slice(1, 6) } : { cause: story(cause) }),
  }
}
