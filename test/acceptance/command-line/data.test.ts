/** `governed types`, `migrate`, `load`, `doctor`: types, operations and items of a workspace (docs/command-line.md). */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type ManifestText, writeSchema } from '../../../packages/client/src/generate.ts'
import { type CommandLine, openCommandLine } from '../../support/service/command-line.ts'
import { people } from '../../support/service/people.ts'
import { type Workspace, world } from '../../support/service/world.ts'

let shop: Workspace
let line: CommandLine
let env: Readonly<Record<string, string>>
const opened: CommandLine[] = []

beforeAll(async () => {
  shop = await world.workspace(
    'files',
    {
      articles: { title: 'string', authorId: 'int64', partId: 'int64?' },
      authors: { id: 'string', name: 'string', bestId: 'int64?' },
      parts: { id: 'int64', aboveId: 'int64?' },
      marks: { id: 'string' },
    },
    [
      'parts.above(aboveId) -> parts.below',
      'articles.part(partId) -> parts.articles',
      'authors.best(bestId) -> articles.bestOf',
    ],
  )
})
beforeEach(async () => {
  line = await openCommandLine()
  opened.push(line)
  env = { GOVERNED_URL: world.url, GOVERNED_WORKSPACE: shop.name, GOVERNED_TOKEN: world.administrator.token }
})
afterAll(async () => {
  for (const { close } of opened) await close()
})

const put = (name: string, content: unknown) =>
  writeFile(join(line.folder, name), typeof content === 'string' ? content : JSON.stringify(content))

it('writes the types of the workspace, and only where they differ', async () => {
  const manifest = (await (await shop.get('/schema')).json()) as ManifestText

  const missing = await line.governed(['types', '--check', '--json'], { env })
  const first = await line.governed(['types'], { env })
  const { ino } = await stat(join(line.folder, 'schema.ts'))
  const second = await line.governed(['types'], { env })
  const checked = await line.governed(['types', '--check'], { env })
  await line.governed(['types', '--out', 'all.ts', '--system'], { env })
  const stale = await line.governed(['types', '--check', '--out', 'all.ts'], { env })

  expect(missing).toMatchObject({ code: 2, json: { data: { file: 'schema.ts', differs: true } } })
  expect(first).toMatchObject({ code: 0, stdout: 'schema.ts is written\n' })
  expect(second).toMatchObject({ code: 0, stdout: 'schema.ts is up to date\n' })
  expect((await stat(join(line.folder, 'schema.ts'))).ino).toBe(ino)
  expect(checked.code).toBe(0)
  expect(await readFile(join(line.folder, 'schema.ts'), 'utf8')).toBe(writeSchema(manifest))
  expect(await readFile(join(line.folder, 'all.ts'), 'utf8')).toBe(writeSchema(manifest, { system: true }))
  expect(stale).toMatchObject({ code: 2, stdout: 'all.ts differs: governed types writes it\n' })
})

it('writes the types of a file without a service', async () => {
  await put('model.json', { version: 1, collections: { notes: { fields: { id: 'int64 auto', text: 'string' } } } })
  await put('wrong.json', { version: 1, collections: { notes: { fields: { id: 'int 64' } } } })

  const written = await line.governed(['types', '--model', 'model.json'])
  const checked = await line.governed(['types', '--model', 'model.json', '--check', '--json'])
  const wrong = await line.governed(['types', '--model', 'wrong.json'])
  const missing = await line.governed(['types', '--model', 'missing.json'])
  const system = await line.governed(['types', '--model', 'model.json', '--system'])

  expect(written).toMatchObject({ code: 0, stdout: 'schema.ts is written\n', stderr: '' })
  expect(await readFile(join(line.folder, 'schema.ts'), 'utf8')).toContain('  notes: {\n    key: string\n')
  expect(checked).toMatchObject({ code: 0, json: { data: { differs: false } } })
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('collections.notes.fields.id: "int 64" is no type'),
  })
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('missing.json is not there') })
  expect(system).toMatchObject({ code: 64, stderr: expect.stringContaining('--system is for the service') })
})

it('finds the settings of the project from a folder below', async () => {
  await put('governed.json', { env: { a: { url: world.url, workspace: shop.name } }, types: 'src/types.ts' })
  await mkdir(join(line.folder, 'below'))

  const { GOVERNED_URL = '', GOVERNED_TOKEN = '' } = env
  const written = await line.governed(['types'], { env: { GOVERNED_URL, GOVERNED_TOKEN }, below: 'below' })

  expect(written).toMatchObject({ code: 0, stdout: '../src/types.ts is written\n' })
  expect(await readFile(join(line.folder, 'src/types.ts'), 'utf8')).toContain('export interface Schema')
})

it('runs operations, or shows what they would do', async () => {
  const own = await world.workspace('migrated', { notes: { text: 'string' } })
  const given = { env: { ...env, GOVERNED_WORKSPACE: own.name } }
  const to = (apiName: string) => ({ kind: 'changeApiName', data: { apiName } })
  const rename = { kind: 'updateCollection', data: { id: own.ids.get('notes'), operations: [to('letters')] } }
  await put('rename.json', [rename])
  const unknown = { kind: 'deleteCollection', data: { id: crypto.randomUUID() } }
  await put('wrong.json', { operations: [rename, unknown] })
  await put('empty.json', {})

  const wrong = await line.governed(['migrate', 'wrong.json', '--json'], given)
  const dry = await line.governed(['migrate', 'rename.json', '--dry-run', '--json'], given)
  const { plan } = (dry.json as { data: { plan: string } }).data
  const told = await line.governed(['migrate', 'rename.json', '--dry-run'], given)
  const before = await own.get('/items/letters')
  const done = await line.governed(['migrate', 'rename.json', '--plan', plan], given)
  const late = await line.governed(['migrate', 'rename.json', '--plan', plan], given)
  const after = await own.get('/items/letters')
  const empty = await line.governed(['migrate', 'empty.json'], given)
  const missing = await line.governed(['migrate', 'missing.json'], given)

  expect(wrong).toMatchObject({
    code: 1,
    json: { message: expect.stringContaining('Failed to execute the migration: ') },
  })
  expect(dry).toMatchObject({ code: 0, json: { data: { statements: expect.any(Array) } } })
  expect(before.status).toBe(404)
  expect(done).toMatchObject({ code: 0, stdout: '1 operation done\n' })
  expect(after.status).toBe(200)
  expect(told.stdout).toContain(`--plan ${plan} does exactly this`)
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('The plan is out of date') })
  expect(empty).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('error: empty.json holds no operations\nhelp: '),
  })
  expect(missing).toMatchObject({ code: 1, stderr: 'error: missing.json is not there\n' })
})

it('loads items by their keys, relations first and circles last, again and again', async () => {
  const folder = join(line.folder, 'data')
  await mkdir(folder)
  await put('data/parts.json', [
    { id: '1', aboveId: '2' },
    { id: '2', aboveId: null },
  ])
  await put('data/articles.json', [{ id: '7', title: 'On engines', authorId: '1', partId: '2' }])
  await put('data/authors.json', [{ id: 'ada', name: 'Ada', bestId: '7' }])
  await put(
    'data/marks.json',
    Array.from({ length: 600 }, (_, index) => ({ id: `m${index}` })),
  )

  const first = await line.governed(['load', 'data', '--json'], { env })
  await put('data/authors.json', [{ id: 'ada', name: 'Ada L.', bestId: '7' }])
  const second = await line.governed(['load', 'data'], { env })

  expect(first).toMatchObject({ code: 0, json: { data: { articles: 1, authors: 1, marks: 600, parts: 2 } } })
  expect(first.stderr).toBe('marks: 500 of 600\n')
  expect(second.stdout.split('\n').sort()).toEqual(['', 'articles: 1', 'authors: 1', 'marks: 600', 'parts: 2'])
  expect(second).toMatchObject({ code: 0, stderr: 'marks: 500 of 600\n' })
  expect(await shop.data('/items/parts?fields=id,aboveId&sort[0][id][direction]=asc')).toEqual([
    { id: '1', aboveId: '2' },
    { id: '2', aboveId: null },
  ])
  expect(await shop.data('/items/authors?fields=name,best.part.id')).toEqual([
    { name: 'Ada L.', best: { part: { id: '2' } } },
  ])
  expect(await shop.data('/items/marks?limit=1000&fields=id')).toHaveLength(600)
})

it.each([
  ['artikles.json', [{ id: '1' }], 'artikles.json: there is no collection artikles; did you mean articles?'],
  ['authors.json', [{ id: 'x' }, { name: 'B' }], 'authors.json: [1] lacks id, a field of its key'],
  ['authors.json', [1], 'authors.json: [0] is no item'],
  ['authors.json', {}, 'authors.json must hold a list of items'],
  ['authors.json', '[', 'authors.json is not JSON'],
])('loads nothing of %s with %j', async (name, content, message) => {
  await mkdir(join(line.folder, 'data'))
  await put(`data/${name}`, content)

  const refused = await line.governed(['load', 'data'], { env })

  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`error: ${message}`) })
})

it('says where the service refuses an item', async () => {
  await mkdir(join(line.folder, 'data'))
  await put('data/parts.json', [{ id: '11' }, { id: '12', aboveId: 'x' }])

  const refused = await line.governed(['load', 'data', '--json'], { env })
  const told = await line.governed(['load', 'data'], { env })

  expect(refused).toMatchObject({ code: 1 })
  expect(told.stderr).toContain('error: parts.json: Failed to execute query > [1].aboveId > must be ')
  expect(told.stderr).toContain('help: what is before it is written; mend it and run this again')
})

it('finds nothing wrong with what is right', async () => {
  await line.governed(['types'], { env })

  const doctor = await line.governed(['doctor', '--json'], { env })

  expect(doctor).toMatchObject({ code: 0, stderr: '' })
  expect(
    (doctor.json as { data: { check: string; state: string }[] }).data.map(({ check, state }) => `${check} ${state}`),
  ).toEqual([
    'settings ok',
    'address ok',
    'reach ok',
    expect.stringMatching(/^clock (ok|unknown)$/),
    'credential ok',
    'privacy ok',
    'rights ok',
    'drift ok',
    // There is no file of the model.
    'model unknown',
    'types ok',
  ])
})

it('says what is wrong, and what to do', async () => {
  const stranger = await people.member(shop, { collections: { articles: { read: 'all' } } })
  await put('schema.ts', 'export interface Schema {}')

  const nothing = await line.governed(['doctor'])
  const away = await line.governed(['doctor'], { env: { ...env, GOVERNED_URL: 'http://127.0.0.1:9' } })
  const nobody = await line.governed(['doctor'], { env: { ...env, GOVERNED_TOKEN: '' } })
  const reader = await line.governed(['doctor'], { env: { ...env, GOVERNED_TOKEN: stranger.token } })
  const stale = await line.governed(['doctor'], { env })

  expect(nothing).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^wrong +settings +no service is known here\n/),
  })
  expect(away).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^wrong +reach +http:\/\/127.0.0.1:9 does not answer/m),
  })
  expect(nobody).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^wrong +credential +nobody is signed in\n +help: governed login$/m),
  })
  expect(reader).toMatchObject({ code: 1, stdout: expect.stringMatching(/^wrong +rights /m) })
  expect(stale).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^wrong +types +schema.ts differs\n +help: governed types$/m),
  })
})

it('says of a service that is away, or another one, what it is', async () => {
  const away = await line.governed(['types', '--json'], { env: { ...env, GOVERNED_URL: 'http://127.0.0.1:9' } })
  const nowhere = await line.governed(['types'], { env: { ...env, GOVERNED_WORKSPACE: 'no_such_workspace' } })

  expect(away).toMatchObject({
    code: 1,
    stderr: '',
    json: { code: 'network', help: expect.stringContaining('governed doctor') },
  })
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('is there a workspace no_such_workspace?') })
})

it('writes names and messages without what would move the cursor', async () => {
  await mkdir(join(line.folder, 'data'))
  await put('data/\u001b[2J\u202earticles.json', [{ id: '1' }])

  const refused = await line.governed(['load', 'data'], { env })

  expect(refused.stderr).toContain('error: [2Jarticles.json: there is no collection')
})
