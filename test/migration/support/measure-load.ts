/** What it takes to load the model of a workspace, measured in a process of its own. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Workspace } from './client.ts'
import type { Figures } from './load.ts'

export async function measureLoad(databaseUrl: string, { id, apiName }: Pick<Workspace, 'id' | 'apiName'>) {
  const script = join(import.meta.dirname, 'load.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, databaseUrl, id, apiName])
  return JSON.parse(stdout) as Figures
}
