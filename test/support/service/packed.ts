/** The packages as `npm pack` makes them, once in a run of the tests. */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { copyPrepared } from '../run/prepared.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** Without the registry: tarballs have all that they need. */
export const npm = (parameters: readonly string[], cwd: string) =>
  run('npm', [...parameters, '--offline', '--no-audit', '--no-fund'], { cwd })

/** Installs packages into a folder with a `package.json`, by the names of their folders. */
export async function installPacked(folder: string, packages: readonly ('client' | 'cli')[]): Promise<void> {
  const tarballs = join(folder, '.packed')
  await copyPrepared('packed', tarballs, async (directory) => {
    const workspaces = ['--workspace', 'packages/client', '--workspace', 'packages/cli']
    await npm(['pack', ...workspaces, '--pack-destination', directory], root)
  })
  const names = await readdir(tarballs)
  const chosen = packages.map((name) => names.find((file) => file.startsWith(`governed-data-${name}-`)))
  await npm(['install', ...chosen.map((file) => `./.packed/${file}`)], folder)
}
