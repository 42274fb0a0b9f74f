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

it('does what the story of the README says', async () => {
  const root = join(import.meta.dirname, '../..')
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const [, story = ''] = readme.split('### A model as a file, and a client that knows it\n')
  const block = (kind: string) => new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, 'ms').exec(story)?.[1] ?? ''
  const [model, program] = [block('json'), block('ts')]
  const governed = (...words: string[]) => run(join(folder, 'node_modules/.bin/governed'), words, { cwd: folder, env })
  const env = {
    ...process.env,
    GOVERNED_URL: service.url,
    GOVERNED_WORKSPACE: 'library',
    GOVERNED_TOKEN: service.token,
  }
  const post = (path: string, body: object) =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/api/system/workspaces', { apiName: 'library' })
  await writeFile(join(folder, 'model.json'), model)
  await writeFile(join(folder, 'program.ts'), program.replace('http://127.0.0.1:8787', service.url))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))

  await governed('schema', 'push', '--yes')
  await governed('types', '--out', 'schema.ts')
  const [author] = [{ _create: { data: { name: 'Ada' } } }]
  const made = await post('/api/library/items/articles', [{ title: 'On engines', author }])
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const compiled = await run(process.execPath, [compiler, '-p', folder]).catch(({ stdout }) => ({ stdout }))
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts')])

  expect((model + program).trimEnd().split('\n').length).toBeLessThan(30)
  expect(made.status).toBe(200)
  expect(compiled.stdout).toBe('')
  expect(stdout).toBe('On engines, by Ada\n')
})

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}
