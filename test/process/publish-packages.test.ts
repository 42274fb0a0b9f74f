/** `npm run packages:publish -- --dry-run`: what it refuses to publish, and that a dry run publishes nothing. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** A registry that has no package and notes what it is asked. */
let registry: Server
let asked: string[]
let directory: string
let copy: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'released-'))
  registry = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"error": "not found"}')
  })
  await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening))
})
beforeEach(async () => {
  asked = []
  copy = await mkdtemp(join(directory, 'repository-'))
  for (const name of ['packages', 'package.json', 'scripts/publish-packages.ts']) {
    await cp(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !/\/(dist|node_modules)$/.test(path),
    })
  }
  await writeFile(join(copy, '.gitignore'), 'node_modules/\ndist/\n')
  const modules = join(copy, 'node_modules')
  await mkdir(modules)
  for (const name of ['.bin', 'typescript', '@typescript', '@types', 'undici-types']) {
    await symlink(join(root, 'node_modules', name), join(modules, name))
  }
  await symlink('../packages/client', join(modules, 'governed-data-client'))
  await git('init', '--quiet')
  await commit()
})
afterAll(async () => {
  registry.close()
  await rm(directory, { recursive: true, force: true })
})

const git = (...words: string[]) => run('git', words, { cwd: copy })

async function commit(): Promise<void> {
  await git('add', '--all')
  const who = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@example.com']
  await git(...who, 'commit', '--quiet', '--message', 'all')
}

async function publish(...flags: string[]) {
  const { port } = registry.address() as AddressInfo
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_fetch_retries: '0' }
  const script = join(copy, 'scripts/publish-packages.ts')
  return run(process.execPath, [script, ...flags], { cwd: copy, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  )
}

async function change(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(copy, path), 'utf8')
  expect(text).toContain(from)
  await writeFile(join(copy, path), text.replace(from, to))
}

it('packs both, tries them in an empty folder, and publishes nothing in a dry run', async () => {
  const done = await publish('--dry-run')

  expect(done).toMatchObject({
    code: 0,
    stdout: 'governed-data-client 1.0.0 would be published\ngoverned-data-cli 1.0.0 would be published\n',
  })
  expect(asked.filter((request) => !request.startsWith('GET '))).toEqual([])
})

it('publishes nothing that is not committed', async () => {
  await writeFile(join(copy, 'packages/client/src/new.ts'), '')

  expect(await publish('--dry-run')).toMatchObject({
    code: 1,
    stderr: 'Commit first, these files differ:\n?? packages/client/src/new.ts\n',
  })
})

it('publishes both in one version, the client for the command line among them', async () => {
  await change('packages/client/package.json', '"version": "1.0.0"', '"version": "1.1.0"')
  await commit()
  const other = await publish('--dry-run')
  await change('packages/cli/package.json', '"version": "1.0.0"', '"version": "1.1.0"')
  await commit()
  const older = await publish('--dry-run')

  expect(other.stderr).toBe('governed-data-cli is 1.0.0, but governed-data-client is 1.1.0: release them together\n')
  expect(older.stderr).toBe('governed-data-cli depends on governed-data-client 1.0.0, not 1.1.0\n')
})

it('publishes only what has its repository and its tag', async () => {
  const unknown = await publish()
  for (const name of ['client', 'cli']) {
    await change(`packages/${name}/package.json`, '"type":', '"repository": "github:example/example",\n  "type":')
  }
  await commit()
  const untagged = await publish()

  expect(unknown.stderr).toBe(
    'governed-data-client does not say its repository in package.json, which provenance takes\n',
  )
  expect(untagged.stderr).toBe('This commit has no tag v1.0.0\n')
  expect(asked).toEqual([])
})
