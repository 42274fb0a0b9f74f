/** The command line as `npm pack` makes it: it installs into an empty folder and works there, with the client alone beside it. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
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

it('does what the README types, word by word', async () => {
  const root = join(import.meta.dirname, '../..')
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const [, story = ''] = readme.split('### A model as a file, and a client that knows it\n')
  const blocks = (kind: string) =>
    [...story.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) =>
      text.replaceAll('http://127.0.0.1:8787', service.url),
    )
  const [[model = ''], [program = ''], [install = '', use = '']] = [blocks('json'), blocks('ts'), blocks('sh')]
  const empty = await mkdtemp(join(tmpdir(), 'story-'))
  const clone = join(empty, 'clone')
  await mkdir(join(clone, '.data'), { recursive: true })
  await writeFile(join(clone, '.data/api-key'), service.token)
  for (const name of ['package.json', 'packages', 'node_modules', 'LICENSE', 'tsconfig.json'])
    await symlink(join(root, name), join(clone, name))
  const folder = join(empty, 'library')
  await mkdir(folder)
  await writeFile(join(folder, 'model.json'), model)
  await writeFile(join(folder, 'program.ts'), program)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const typed = `set -e\n${install.replace('clone=…', `clone=${clone}`)}\n${use}\nnode program.ts\n`

  const { stdout } = await run('bash', ['-c', typed], {
    cwd: folder,
    env: { ...process.env, GOVERNED_HOME: join(empty, 'home'), npm_config_offline: 'true' },
  })
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const compiled = await run(process.execPath, [compiler, '-p', folder]).catch(({ stdout }) => ({ stdout }))
  await rm(empty, { recursive: true, force: true })

  expect((model + program).trimEnd().split('\n').length).toBeLessThan(30)
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('On engines, by Ada')
  expect(compiled.stdout).toBe('')
})

it.each(['docs/command-line.md', 'packages/cli/README.md'])('does what %s types first, word by word', async (page) => {
  const root = join(import.meta.dirname, '../..')
  const [, block = ''] = /^```(?:sh)?\n(.*?)^```/ms.exec(await readFile(join(root, page), 'utf8')) ?? []
  const folder = await mkdtemp(join(tmpdir(), 'page-'))
  await writeFile(join(folder, 'package.json'), '{ "name": "page", "private": true, "type": "module" }')
  await writeFile(join(folder, 'key'), service.token)
  const typed = block
    .replace('CLONE', root)
    .replace(/https:\/\/data\.example\.com --workspace shop/, `${service.url} --workspace demo --key-stdin < key`)

  await run('bash', ['-ec', typed], {
    cwd: folder,
    env: { ...process.env, GOVERNED_HOME: join(folder, 'home'), npm_config_offline: 'true' },
  })
  const [model, schema] = await Promise.all(
    ['model.json', 'schema.ts'].map((name) => readFile(join(folder, name), 'utf8')),
  )
  await rm(folder, { recursive: true, force: true })

  expect(block.match(/npx governed/g)?.length).toBeGreaterThanOrEqual(3)
  expect(model).toContain('"articles"')
  expect(schema).toContain('title: string')
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
