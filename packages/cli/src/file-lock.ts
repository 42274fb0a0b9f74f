/** One process at a time: a file beside what is kept, taken away when the work is done or its holder is gone. */
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Failure } from './failure.ts'
import { isCode } from './written-file.ts'

/** Nothing that is done under a lock takes as long. */
const LONGEST_HOLD = 60_000

export async function underLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await take(path)
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function take(path: string): Promise<void> {
  const end = Date.now() + 2 * LONGEST_HOLD
  while (Date.now() < end) {
    try {
      const file = await open(path, 'wx', 0o600)
      await file.writeFile(`${process.pid} ${hostname()}`)
      return await file.close()
    } catch (cause) {
      if (!isCode(cause, 'EEXIST')) throw new Failure(`${path} cannot be written`, { cause })
    }
    if (await isAbandoned(path)) await rm(path, { force: true })
    else await wait(50)
  }
  throw new Failure(`${path} is held by another call`, { help: 'take the file away where there is none' })
}

/** Whether whoever made it is gone, or has had it for too long. */
async function isAbandoned(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > LONGEST_HOLD) return true
    const [pid, host] = (await readFile(path, 'utf8')).split(' ')
    return host === hostname() && !isRunning(Number(pid))
  } catch {
    // It was given back meanwhile.
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return isCode(cause, 'EPERM')
  }
}
