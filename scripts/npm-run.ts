/**
 * Makes a long-running npm script end with npm. npm forwards SIGTERM and SIGINT, but a killed npm cannot, so the script
 * polls whether its parent still exists.
 */
import { setInterval } from 'node:timers'

/** In milliseconds. */
const LOOK_EVERY = 250

/** Sends SIGTERM to this process when the npm that started it has ended. Does nothing without npm. */
export function endWithNpm(): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_EVERY).unref()
}
