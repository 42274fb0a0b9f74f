/** `governed schema pull | diff | push`, and the types of a file: a workspace's model as a file (docs/command-line.md#the-model). */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { type CommandLine, openCommandLine } from '../../support/service/command-line.ts'
import { people } from '../../support/service/people.ts'
import { type Workspace, world } from '../../support/service/world.ts'

let shop: Workspace
let line: CommandLine
let given: { readonly env: Readonly<Record<string, string>> }
const opened: CommandLine[] = []

beforeEach(async () => {
  shop = await world.workspace('model', { notes: { text: 'string' } })
  line = await openCommandLine()
  opened.push(line)
  given = { env: { GOVERNED_URL: world.url, GOVERNED_WORKSPACE: shop.name, GOVERNED_TOKEN: world.administrator.token } }
})
afterAll(async () => {
  for (const { close } of opened) await close()
})

const put = (content: unknown) => writeFile(join(line.folder, 'model.json'), JSON.stringify(content))
const held = async () => JSON.parse(await readFile(join(line.folder, 'model.json'), 'utf8'))

const library = {
  version: 1,
  collections: {
    notes: { fields: { id: 'int64 auto', text: 'string' } },
    articles: {
      fields: {
        id: 'int64 auto',
        title: 'string(200)',
        status: { type: 'string', default: 'draft' },
        rating: 'float64?',
        author: { to: 'authors?', onDelete: 'setNull' },
        tags: { many: 'tags' },
      },
      indexes: ['status', 'unique title'],
    },
    authors: { fields: { id: 'uuid auto', name: 'string', changedAt: 'dateTimeWithTimezone always' } },
    profiles: { fields: { author: { to: 'authors', unique: true }, words: 'string[]?' }, key: ['author'] },
    tags: { fields: { id: 'int32 auto', name: 'string' } },
  },
}

it('sends what says who one is to no service that only the settings name, unless a person agrees', async () => {
  const received: unknown[] = []
  const foreign = createServer(({ headers }, response) => {
    received.push(headers.authorization)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(foreign, 'listening')
  const url = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
  const { GOVERNED_TOKEN = '' } = given.env
  const env = { GOVERNED_TOKEN }
  const leadTo = (url: string) =>
    writeFile(join(line.folder, 'governed.json'), JSON.stringify({ env: { a: { url, workspace: shop.name } } }))
  await leadTo(url)

  const login = ['login', '--email', 'ada@example.com', '--password-stdin']
  const refused = [
    await line.governed(['schema', 'pull'], { env }),
    await line.governed(['schema', 'pull', '--yes', '--env', 'a'], { env }),
    await line.governed(login, { stdin: 'secret' }),
  ]
  const doctor = await line.governed(['doctor'], { env })
  const declined = await line.governed(['types'], { env, typed: ['n'] })
  foreign.close()
  await leadTo(world.url)
  const agreed = await line.governed(['types'], { env, typed: ['y'] })
  const again = await line.governed(['types'], { env })

  expect(received).toEqual([])
  for (const one of refused) {
    expect(one).toMatchObject({
      code: 64,
      stdout: '',
      stderr: expect.stringContaining(`help: say GOVERNED_URL=${url}`),
    })
  }
  expect(refused[0]?.stderr).toContain(`leads to ${url}, where you have not been yet. Send GOVERNED_TOKEN there?`)
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(/^wrong +address /m) })
  expect(declined).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was sent') })
  expect([agreed.code, again.code]).toEqual([0, 0])
})

it('pulls the file as the service writes it, and only where it differs', async () => {
  const text = await (await shop.get('/schema/model')).text()
  const bare = await (await shop.get('/schema/model?ids=false')).text()

  const first = await line.governed(['schema', 'pull'], given)
  const { ino } = await stat(join(line.folder, 'model.json'))
  const second = await line.governed(['schema', 'pull', '--json'], given)
  const other = await line.governed(['schema', 'pull', 'bare.json', '--no-ids'], given)
  const same = await line.governed(['schema', 'diff'], given)

  expect(first).toMatchObject({ code: 0, stdout: 'model.json is written\n', stderr: '' })
  expect(second).toMatchObject({ code: 0, json: { data: { file: 'model.json', written: false } } })
  expect((await stat(join(line.folder, 'model.json'))).ino).toBe(ino)
  expect(await readFile(join(line.folder, 'model.json'), 'utf8')).toBe(text)
  expect(other.code).toBe(0)
  expect(await readFile(join(line.folder, 'bare.json'), 'utf8')).toBe(bare)
  expect(same).toMatchObject({ code: 0, stdout: 'no difference: the workspace has the model of model.json\n' })
})

it('shows a difference, ends with 2, and changes nothing', async () => {
  await put(library)

  const told = await line.governed(['schema', 'diff'], given)
  const asJson = await line.governed(['schema', 'diff', '--json'], given)
  const after = await (await shop.get('/schema/model?ids=false')).text()

  expect(told).toMatchObject({ code: 2, stderr: '' })
  expect(told.stdout).toMatch(/^\+ articles\n {4}id {6}int64 auto$/m)
  expect(told.stdout).toMatch(/^SQL:\n {2}create table /m)
  expect(asJson).toMatchObject({ code: 2, json: { data: { plan: expect.any(String), destructive: [] } } })
  expect(after).not.toContain('articles')
})

it('pushes what was agreed to, and then there is nothing to push', async () => {
  await put(library)

  const silent = await line.governed(['schema', 'push'], given)
  const refused = await line.governed(['schema', 'push'], { ...given, typed: ['n'] })
  const before = await (await shop.get('/schema/model?ids=false')).text()
  const agreed = await line.governed(['schema', 'push'], { ...given, typed: ['y'] })
  const again = await line.governed(['schema', 'push', '--yes', '--json'], given)

  expect(silent).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('help: say --yes\n') })
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('nothing was changed') })
  expect(before).not.toContain('articles')
  expect(agreed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+ changes applied\n$/) })
  expect(agreed.stderr).toContain('+ articles')
  expect(again).toMatchObject({ code: 0, json: { data: { changes: [] } } })
})

it('destroys nothing that it is not told to', async () => {
  await shop.insert('notes', [{ text: 'kept' }, { text: 'too' }])
  await put({ version: 1, collections: { letters: { fields: { id: 'int64 auto' } } } })

  const refused = await line.governed(['schema', 'push', '--yes'], given)
  const asJson = await line.governed(['schema', 'push', '--yes', '--json'], given)
  const kept = await shop.data('/items/notes?fields=text')
  const allowed = await line.governed(['schema', 'push', '--yes', '--allow', 'drop'], given)
  const wrong = await line.governed(['schema', 'push', '--yes', '--allow', 'everything'], given)

  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('! notes, 2 rows\n')
  expect(refused.stderr).toContain('error: this would destroy notes\nhelp: say --allow drop where it is meant')
  expect(asJson).toMatchObject({ code: 1, json: { message: 'this would destroy notes' } })
  expect(kept).toHaveLength(2)
  expect(allowed.code).toBe(0)
  expect((await shop.get('/items/notes')).status).toBe(404)
  expect(wrong).toMatchObject({ code: 64, stderr: expect.stringContaining('--allow takes drop') })
})

it('lets no access test fail that it is not told to', async () => {
  const policy = await people.policy(shop, { collections: { notes: { read: 'all' } } }, 'Reading')
  const as = `role:${await people.role(shop, [policy], 'Readers')}`
  const test = { name: 'Readers read', as, collection: 'notes', action: 'read', expect: { allowed: true } }
  expect((await shop.post('/access/tests', test)).status).toBe(201)
  await line.governed(['schema', 'pull'], given)
  const model = await held()
  await put({ ...model, policies: { Reading: { ...model.policies.Reading, collections: {} } } })

  const refused = await line.governed(['schema', 'push', '--yes'], given)
  const allowed = await line.governed(['schema', 'push', '--yes', '--allow', 'drop,failingTests'], given)

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Access tests would fail > Readers read') })
  expect(refused.stderr).toContain('help: say --allow failingTests')
  expect(allowed.code).toBe(0)
})

it('keeps data over renames', async () => {
  await shop.insert('notes', [{ text: 'kept' }])
  await put({
    version: 1,
    collections: {
      letters: { fields: { id: 'int64 auto', body: { type: 'string', renamedFrom: 'text' } }, renamedFrom: 'notes' },
    },
  })

  const pushed = await line.governed(['schema', 'push', '--yes'], given)

  expect(pushed.code).toBe(0)
  expect(pushed.stderr).toMatch(/^> /m)
  expect(await shop.data('/items/letters?fields=body')).toEqual([{ body: 'kept' }])
})

it('says where a file is wrong, and what was meant', async () => {
  await put({ version: 1, collections: { a: { fields: { id: 'int64 auto', b: { to: 'notse' } } } } })

  const wrong = await line.governed(['schema', 'diff'], given)
  await writeFile(join(line.folder, 'model.json'), '{')
  const broken = await line.governed(['schema', 'diff'], given)
  const missing = await line.governed(['schema', 'push', 'other.json'], given)

  expect(wrong).toMatchObject({ code: 1, stdout: '' })
  expect(wrong.stderr).toContain('model.collections.a.fields.b.to')
  expect(broken.stderr).toContain('model.json is not JSON')
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('help: governed schema pull writes it') })
})

it('says which right is missing', async () => {
  const reader = await people.member(shop, { entitlements: ['dataModel:read'] })
  await put({ version: 1, collections: library.collections })

  const refused = await line.governed(['schema', 'push', '--yes'], {
    env: { ...given.env, GOVERNED_TOKEN: reader.token },
  })

  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('error: applying this takes dataModel:edit\n'),
  })
})

it('writes the same types out of a file as out of the service', async () => {
  await put(library)
  await line.governed(['schema', 'push', '--yes'], given)
  await line.governed(['schema', 'pull', 'pulled.json'], given)

  const online = await line.governed(['types'], given)
  const written = await line.governed(['types', '--model', 'model.json', '--check'])
  const pulled = await line.governed(['types', '--model', 'pulled.json', '--check'])
  await put({ ...(await held()), collections: { notes: { fields: { id: 'int64 auto', n: 'int32' } } } })
  const stale = await line.governed(['types', '--model', 'model.json', '--check'])
  const both = await line.governed(['types', '--model', 'model.json', '--system'])

  expect(online.code).toBe(0)
  expect(written).toMatchObject({ code: 0, stdout: 'schema.ts is up to date\n', stderr: '' })
  expect(pulled).toMatchObject({ code: 0 })
  expect(stale.code).toBe(2)
  expect(both).toMatchObject({ code: 64, stderr: expect.stringContaining('--system') })
})

it('is looked at by the doctor', async () => {
  await put(library)
  const differs = await line.governed(['doctor'], given)
  await line.governed(['schema', 'pull'], given)
  const same = await line.governed(['doctor'], given)

  expect(differs).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^wrong +model +model.json differs by \d+ changes$/m),
  })
  expect(differs.stdout).toContain('help: governed schema diff')
  expect(same.stdout).toMatch(/^ok +model +model.json is the model of the workspace$/m)
})

it('writes nothing outside of the folder of settings that somebody else may have written, and nothing over other files', async () => {
  const at = (name: string) => join(line.folder, name)
  const settings = (members: object) => writeFile(at('project/governed.json'), JSON.stringify({ env: {}, ...members }))
  await mkdir(at('project/below'), { recursive: true })
  await writeFile(at('.bashrc'), 'echo hello\n')
  await symlink(at(''), at('project/out'))
  await symlink('../.bashrc', at('project/linked.json'))
  const there = { ...given, below: 'project' }

  for (const model of ['../.bashrc', at('.bashrc'), 'out/.bashrc', 'linked.json', 'below/../../new.json', '.']) {
    await settings({ model })
    const pulled = await line.governed(['schema', 'pull'], there)
    expect(pulled, model).toMatchObject({ code: 1 })
    expect(pulled.stderr, model).toContain('model leads out of its folder')
  }
  for (const [member, name, place] of [
    ['model', 'Makefile', 'model must end with .json'],
    ['types', 'below/x.sh', 'types must end with .ts'],
    ['types', '../../x.ts', 'types leads out of its folder'],
  ] as const) {
    await settings({ [member]: name })
    const refused = await line.governed(member === 'model' ? ['schema', 'pull'] : ['types'], there)
    expect(refused, name).toMatchObject({ code: 1 })
    expect(refused.stderr, name).toContain(place)
  }
  await settings({ model: 'package.json', types: 'own.ts' })
  await writeFile(at('project/package.json'), '{"name":"mine"}')
  await writeFile(at('project/own.ts'), 'export const mine = 1\n')
  const overOther = await line.governed(['schema', 'pull'], there)
  const overOwn = await line.governed(['types'], there)

  expect(overOther.stderr).toContain('package.json is there, and is no model file')
  expect(overOwn.stderr).toContain('own.ts is there, and is no file that governed types has written')
  expect(await readFile(at('.bashrc'), 'utf8')).toBe('echo hello\n')
  expect(await readFile(at('project/package.json'), 'utf8')).toBe('{"name":"mine"}')
  expect(await readFile(at('project/own.ts'), 'utf8')).toBe('export const mine = 1\n')
})

it('writes through links and to what is no file, and keeps the mode of a file', async () => {
  const at = (name: string) => join(line.folder, name)
  await line.governed(['schema', 'pull', 'kept.json'], given)
  await chmod(at('kept.json'), 0o640)
  await symlink('kept.json', at('link.json'))
  const whole = await readFile(at('kept.json'), 'utf8')

  const linked = await line.governed(['schema', 'pull', 'link.json', '--no-ids'], given)
  await promisify(execFile)('mkfifo', [at('pipe')])
  const [streamed, arrived] = await Promise.all([
    line.governed(['schema', 'pull', 'pipe'], given),
    readFile(at('pipe'), 'utf8'),
  ])

  expect([linked.code, streamed.code]).toEqual([0, 0])
  expect(await readFile(at('kept.json'), 'utf8')).not.toBe(whole)
  expect((await stat(at('kept.json'))).mode & 0o777).toBe(0o640)
  expect(arrived).toBe(whole)
})
