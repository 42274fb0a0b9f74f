/** The Worker's build is kept, and what was kept is never older than what it was made of. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildWorker } from '../../scripts/worker-build.ts'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache')
let directory: string
let entry: string
let kept: string

beforeAll(async () => {
  await mkdir(cache, { recursive: true })
  directory = await mkdtemp(join(cache, 'sources-'))
  entry = relative(root, join(directory, 'main.ts'))
  kept = join(cache, 'worker', `${entry.replaceAll(/\W+/g, '-')}.json`)
  const main = `import { answer } from './answer.ts'
    export class WorkspaceObject {}
    export class LicenseObject {}
    export default { fetch: () => new Response(answer) }`
  await writeFile(join(directory, 'main.ts'), main)
  await utimes(join(directory, 'main.ts'), LONG_AGO, LONG_AGO)
})

afterAll(async () => {
  await rm(directory, { recursive: true })
  await rm(kept, { force: true })
})

const service = { entry: 'handlers/worker.ts', minify: false }

const LONG_AGO = new Date('2026-01-01')

/** As a tool may that restores the times of files. */
const writeLongAgo = async (text: string) => {
  await writeFile(join(directory, 'answer.ts'), text)
  await utimes(join(directory, 'answer.ts'), LONG_AGO, LONG_AGO)
}

const built = async () => {
  const { modules } = await buildWorker({ entry, minify: false })
  return modules[0]?.contents
}

it('is not kept when a source changes while it is made', async () => {
  // A pipe is opened when it is read, so that the source changes at just that moment.
  const pipe = join(directory, 'answer.ts')
  await run('mkfifo', [pipe])
  const building = buildWorker({ entry, minify: false })
  const early = await open(pipe, 'w')
  await writeFile(join(directory, 'while.ts'), `export const answer: string = 'while'`)
  await rename(join(directory, 'while.ts'), pipe)
  await early.writeFile(`export const answer: string = 'early'`)
  await early.close()
  expect((await building).modules[0]?.contents).toContain('"early"')
  await writeLongAgo(`export const answer: string = 'while'`)

  expect(await built()).toContain('"while"')
})

it('is used again as long as nothing has changed', async () => {
  const [first, { mtimeMs: before }] = [await built(), await stat(kept)]
  const [second, { mtimeMs: after }] = [await built(), await stat(kept)]

  expect(second).toBe(first)
  expect(after).toBe(before)
})

it('is made anew when a source has another content, whatever its size and time', async () => {
  await writeLongAgo(`export const answer: string = 'later'`)

  expect(await built()).toContain('"later"')
})

it('is refused with the place when a source is wrong', async () => {
  await writeLongAgo(`export const answer: string = = 'wrong'`)

  await expect(built()).rejects.toThrow(/the Worker cannot be built:\n[\s\S]*answer\.ts:1/)
})

it('has apart what most requests do not need, decision 036', async () => {
  const { modules } = await buildWorker(service)
  const [main, ...parts] = modules.map(({ path, contents }) => ({
    path,
    isMcp: contents.includes('CallToolRequestSchema'),
  }))

  expect(main).toEqual({ path: 'worker.js', isMcp: false })
  expect(parts.filter(({ isMcp }) => isMcp)).toHaveLength(1)
  expect(parts.map(({ path }) => path)).toContain('parts/neon.js')
})

it.each([false, true])('names no module that is not there, minified: %s', async (minify) => {
  const { modules } = await buildWorker({ ...service, minify })
  const named = modules.flatMap(({ path, contents }) =>
    [...contents.matchAll(/(?:from|import\() ?["'`](\.[^"'`\n]+\.js)["'`]/g)].map(([, name = '']) =>
      join(dirname(path), name),
    ),
  )

  expect(named).toContain('parts/neon.js')
  expect(modules.map(({ path }) => path)).toEqual(expect.arrayContaining(named))
})

it('is uploaded by wrangler in the same modules', async () => {
  const uploaded = await mkdtemp(join(cache, 'uploaded-'))
  const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js')

  await run(process.execPath, [join(root, 'scripts/worker-modules.ts')])
  await run(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', uploaded], { cwd: root })

  const modules = (await readdir(uploaded, { recursive: true })).filter((name) => name.endsWith('.js'))
  const { modules: built } = await buildWorker(service)
  expect(modules.map(withoutHash).sort()).toEqual(built.map(({ path }) => withoutHash(path)).sort())
  await rm(uploaded, { recursive: true })
})

const run = promisify(execFile)

const withoutHash = (name: string) => name.replace(/-\w{8}(?=\.js$)/, '')
