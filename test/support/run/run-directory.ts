/** A directory that all projects and processes of one run of the tests share, and that goes away with the run. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The variable that tells the processes of the run where it is. */
export const RUN_DIRECTORY = 'SERVICE_TEST_RUN_DIRECTORY'

/** The first project of a run makes it, and takes it away when all have ended. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[RUN_DIRECTORY] !== undefined) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'run-'))
  // Database servers that root may not run prepare theirs as somebody else.
  await chmod(directory, 0o755)
  process.env[RUN_DIRECTORY] = directory
  // Programs that are started again and again compile their modules once. They may outlive the run by a moment.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../../node_modules/.cache/compiled')

  return async () => {
    delete process.env[RUN_DIRECTORY]
    await rm(directory, { recursive: true, force: true })
  }
}
