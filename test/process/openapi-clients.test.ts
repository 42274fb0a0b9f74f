/**
 * The documents as others read them: two linters, a generator of types with a compiler, and a client that is made of
 * nothing else.
 */
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { effort } from '../support/run/effort.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
let service: NodeService
let folder: string

beforeAll(async () => {
  service = await startService('typed', {
    collections: {
      authors: { id: 'int64 = counted', name: 'string(80)', born: 'date?', tags: 'string[]?' },
      books: { id: 'uuid = uuid', title: 'string', price: 'decimal(10,2)?', details: 'json?', authorId: 'int64' },
      pairs: { first: 'int32', second: 'int32', cover: 'bytes?', at: 'dateTimeWithTimezone?' },
    },
    keys: { pairs: [['primary', 'first', 'second']] },
    relations: ['books.author(authorId) -> authors.books'],
  })
  // Inside the repository, so that the program finds its packages.
  folder = await mkdtemp(join(root, 'test/openapi-types/.made-'))
  for (const name of ['workspace', 'system']) {
    const address = `${service.url}/api/${name === 'system' ? name : 'typed'}/openapi`
    const response = await fetch(address, { headers: { Authorization: `Bearer ${service.token}` } })
    await writeFile(join(folder, `${name}.json`), await response.text())
  }
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

it('pass the linter of Redocly without errors', async () => {
  const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const script = join(root, 'node_modules/@redocly/cli/bin/cli.js')
  const parameters = [script, 'lint', 'workspace.json', 'system.json', '--extends=recommended', '--format=json']

  const { stdout } = await run(process.execPath, parameters, { cwd: folder, env: environment, maxBuffer: 64e6 })

  // It also ends with another exit code where there are any, which throws above.
  expect(stdout).toContain('"severity": "warn"')
  expect(stdout).not.toContain('"severity": "error"')
})

if (effort() === 'full')
  it('pass Spectral’s rules for OpenAPI without errors', async () => {
    await writeFile(join(folder, 'rules.yaml'), 'extends: ["spectral:oas"]\n')
    const script = join(root, 'node_modules/@stoplight/spectral-cli/dist/index.js')
    const parameters = [script, 'lint', 'workspace.json', 'system.json', '-r', 'rules.yaml', '-f', 'json', '-q']

    const { stdout } = await run(process.execPath, parameters, { cwd: folder, maxBuffer: 64e6 })

    const found = JSON.parse(stdout) as { severity: number; message: string }[]
    expect(found.filter(({ severity }) => severity === 0)).toEqual([])
  })

it('become types that compile, and a client made of them creates, reads what is nested, changes and deletes', async () => {
  await copyFile(join(root, 'test/openapi-types/program.ts'), join(folder, 'program.ts'))

  const compiled = await run(process.execPath, [join(root, 'test/openapi-types/compile.ts'), folder])
  const done = await run(process.execPath, [join(folder, 'program.ts'), service.url, service.token])

  expect(compiled.stdout).toBe('')
  expect(JSON.parse(done.stdout)).toEqual({
    created: ['Ada'],
    read: { name: 'Ada', titles: ['Letters'] },
    listed: { items: [{ title: 'Notes' }], total: 1 },
    grouped: {
      names: ['Ada'],
      first: { group: { 'author.name': 'Ada', price: '9.50' }, books: 1, worth: '9.50' },
    },
    updated: 'Ada L.',
    deleted: [204, 204],
    gone: [404, 'No record found'],
    roles: ['Administrator', 'Public'],
  })
})
