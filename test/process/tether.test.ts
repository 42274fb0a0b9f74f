/** What ties workerd to the process that starts it, where that ends before it has begun. */
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('a signal that ends the program which makes its pipe leaves no directory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tether-'))
  const [programs, TMPDIR] = [join(directory, 'programs'), join(directory, 'temporary')]
  await Promise.all([mkdir(programs), mkdir(TMPDIR)])
  await writeFile(join(programs, 'mkfifo'), '#!/bin/sh\nkill -TERM $$\n')
  await chmod(join(programs, 'mkfifo'), 0o755)
  const tether = join(import.meta.dirname, '../../scripts/tether.ts')
  const program = `const { tethered } = await import(${JSON.stringify(tether)})
    await tethered(async () => {}).catch(() => process.exit(3))`

  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, TMPDIR }
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { env })

  expect(status).toBe(3)
  expect(await readdir(TMPDIR)).toEqual([])
  await rm(directory, { recursive: true })
})
