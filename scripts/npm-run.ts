/**
 * What every npm script that runs for long does: it ends when npm does. npm passes SIGTERM and SIGINT on by itself; an npm
 * that is killed can tell nobody, so that the script looks whether its parent is still there.
 */
import { setInterval } from 'node:timers'

/** Milliseconds. */
const LOOK_EVERY = 250

/** Sends SIGTERM to this process once the npm that started it is gone. Does nothing where npm did not start it. */
export function endWithNpm(): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_EVERY).unref()
}
