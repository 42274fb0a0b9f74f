/** The client as `npm pack` makes it: it installs into an empty project, and does there what its README says. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeService, startService } from '../support/service/node-service.ts'
import { installPacked } from '../support/service/packed.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
let service: NodeService
let folder: string

beforeAll(async () => {
  service = await startService('demo', {
    collections: {
      articles: { id: 'int64 = counted', title: 'string', authorId: 'int64?' },
      authors: { id: 'int64 = counted', name: 'string', email: 'string?' },
    },
    keys: {},
    relations: ['articles.author(authorId) -> authors.articles'],
  })
  folder = await mkdtemp(join(tmpdir(), 'installed-'))
  await writeFile(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
  await installPacked(folder, ['client'])
})
afterAll(async () => {
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

it('brings its modules, their types, its README and nothing else', async () => {
  const files = await readdir(join(folder, 'node_modules/governed-data-client'), { recursive: true })

  expect(files.filter((name) => !/^dist(\/[\w-]+(\.d\.ts|\.js))?$/.test(name)).sort()).toEqual([
    'README.md',
    'package.json',
  ])
})

it.each([
  ['5', 'test/openapi-types/node_modules/typescript/bin/tsc'],
  ['7', 'node_modules/typescript/bin/tsc'],
])('runs the examples of its README there, which compile on TypeScript %s', async (_, compiler) => {
  const { writeSchema } = await import(join(folder, 'node_modules/governed-data-client/dist/generate.js'))
  const manifest = await fetch(`${service.url}/api/demo/schema`, {
    headers: { Authorization: `Bearer ${service.token}` },
  })
  await writeFile(join(folder, 'schema.ts'), writeSchema(await manifest.json()))
  await writeFile(join(folder, 'program.ts'), await program())
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))

  const compiled = await run(process.execPath, [join(root, compiler), '-p', folder]).catch(({ stdout }) => ({ stdout }))
  const done = await run(process.execPath, [join(folder, 'program.ts')], {
    env: { ...process.env, SERVICE: JSON.stringify({ url: service.url, ...service.administrator }) },
  })

  expect(compiled.stdout).toBe('')
  expect(done.stdout).toBe('ran\n')
})

it('does the same on Deno', async () => {
  await writeFile(join(folder, 'on-deno.ts'), await program())
  const deno = join(root, 'node_modules/.bin/deno')
  const given = JSON.stringify({ url: service.url, ...service.administrator })

  const done = await run(deno, ['run', '--allow-net', '--allow-env', '--no-remote', '--no-check', 'on-deno.ts'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, NO_COLOR: '1', SERVICE: given },
  })

  expect(done.stdout).toBe('ran\n')
})

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}

/** The examples of the README, one after the other, with what they take for granted before them. */
async function program(): Promise<string> {
  const readme = await readFile(join(root, 'packages/client/README.md'), 'utf8')
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)
  return `declare const process: { readonly env: Record<string, string> }
declare const console: { log(text: string): void }
const { url, email, password } = JSON.parse(process.env.SERVICE ?? '') as Record<'url' | 'email' | 'password', string>
const memory = new Map<string, string>()
const localStorage = {
  getItem: (name: string) => memory.get(name) ?? null,
  setItem: (name: string, value: string) => void memory.set(name, value),
  removeItem: (name: string) => void memory.delete(name),
}
${examples.join('\n')}
console.log('ran')
`
}
