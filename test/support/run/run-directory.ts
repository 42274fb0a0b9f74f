/** A directory that all projects and processes of one run of the tests share, and that goes away with the run. */
import { rmSync } from 'node:fs'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The variable that tells the processes of the run where it is. */
export const RUN_DIRECTORY = 'SERVICE_TEST_RUN_DIRECTORY'

/** The option of Node for programs that are ended soon. */
export const SHORT_LIVED = `--import=${JSON.stringify(join(import.meta.dirname, 'short-lived.js'))}`

/** The first project of a run makes it, and takes it away when all have ended. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[RUN_DIRECTORY] !== undefined) return undefined
  await makeTemporaryFilesInMemory()
  const directory = await mkdtemp(join(tmpdir(), 'run-'))
  // Database servers that root may not run prepare theirs as somebody else.
  await chmod(directory, 0o755)
  process.env[RUN_DIRECTORY] = directory
  // Nothing leaves the machine; the configuration of each workerd would be copied once for every certificate.
  delete process.env.NODE_EXTRA_CA_CERTS
  // Programs that are started again and again compile their modules once. They may outlive the run by a moment.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../../node_modules/.cache/compiled')

  return async () => {
    delete process.env[RUN_DIRECTORY]
    await rm(directory, { recursive: true, force: true })
  }
}

const MEMORY = '/dev/shm'

/** A run fills less than half of it. */
const ROOM = 4 * 1024 ** 3

/**
 * A server of a test starts with a thousand files and ends by deleting them. ext4 searches the inodes of all that were
 * deleted in the last seconds for each new file, so that a run is busy with little else where many servers come and go.
 */
async function makeTemporaryFilesInMemory(): Promise<void> {
  if (process.env.TMPDIR !== undefined || !(await hasRoom(MEMORY))) return
  const directory = await mkdtemp(join(MEMORY, 'tests-'))
  await chmod(directory, 0o755)
  process.env.TMPDIR = directory
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
}

async function hasRoom(directory: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(directory)
    return Math.min(bavail * bsize, process.availableMemory()) >= ROOM
  } catch {
    return false
  }
}
