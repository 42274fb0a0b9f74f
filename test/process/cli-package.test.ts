/** The command line as `npm pack` makes it: it installs into an empty folder and works there, with the client alone beside it. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeService, startService } from '../support/service/node-service.ts'
import { installPacked } from '../support/service/packed.ts'

const run = promisify(execFile)
let service: NodeService
let folder: string

beforeAll(async () => {
  service = await startService('demo', {
    collections: { articles: { id: 'int64 = counted', title: 'string' } },
    keys: {},
    relations: [],
  })
  folder = await mkdtemp(join(tmpdir(), 'installed-'))
  await writeFile(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
  await installPacked(folder, ['client', 'cli'])
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

it('brings its modules, its README and the client, and nothing else', async () => {
  const files = await readdir(join(folder, 'node_modules/governed-data-cli'), { recursive: true })
  const packages = await readdir(join(folder, 'node_modules'))

  expect(files.filter((name) => !/^dist(\/commands)?(\/[\w-]+\.js)?$/.test(name)).sort()).toEqual([
    'README.md',
    'package.json',
  ])
  expect(packages.filter((name) => !name.startsWith('.')).sort()).toEqual(['governed-data-cli', 'governed-data-client'])
})

it('signs in and writes types by its name', async () => {
  const { email, password } = service.administrator
  const env = { ...process.env, GOVERNED_HOME: join(folder, 'home') }
  const governed = join(folder, 'node_modules/.bin/governed')

  const login = run(
    governed,
    ['login', '--url', service.url, '--workspace', 'demo', '--email', email, '--password-stdin'],
    { cwd: folder, env },
  )
  login.child.stdin?.end(password)
  const { stdout } = await login
  await run(governed, ['types'], { cwd: folder, env })

  expect(stdout).toBe(`signed in to ${service.url}, workspace demo, as ${email}\n`)
  expect(await readFile(join(folder, 'schema.ts'), 'utf8')).toContain('title: string')
})
