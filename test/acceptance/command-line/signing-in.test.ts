/** `governed login`, `logout`, `env`: services by name and what is kept of who one is (docs/command-line.md). */
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type CommandLine, openCommandLine } from '../../support/service/command-line.ts'
import { type Person, people } from '../../support/service/people.ts'
import { type Workspace, world } from '../../support/service/world.ts'

let shop: Workspace
let reader: Person
let key: string
const opened: CommandLine[] = []
let line: CommandLine

beforeAll(async () => {
  shop = await world.workspace('signing', { articles: { title: 'string' } })
  reader = await people.member(shop, { entitlements: ['dataModel:read'], collections: { articles: { read: 'all' } } })
  const made = await reader.system.post('/api/system/api-keys', { name: 'ci', expiresIn: '1d' })
  key = ((await made.json()) as { data: { key: string } }).data.key
})
beforeEach(async () => {
  line = await openCommandLine()
  opened.push(line)
})
afterAll(async () => {
  for (const { close } of opened) await close()
})

const service = () => ['--url', world.url, '--workspace', shop.name]
const byPassword = () => ['login', ...service(), '--email', reader.email, '--password-stdin']
const kept = () => readFile(join(line.home, 'credentials.json'), 'utf8')
const countSessions = async () => {
  const answer = await reader.system.get('/api/system/users/me/sessions')
  return ((await answer.json()) as { data: readonly unknown[] }).data.length
}
const settings = async () => JSON.parse(await readFile(join(line.folder, 'governed.json'), 'utf8')) as unknown

it('signs in by a password, names the service, and keeps the session for this user alone', async () => {
  const signedIn = await line.governed(byPassword(), { stdin: `${reader.password}\n` })
  const typed = await line.governed(['types'])
  const { mode } = await stat(join(line.home, 'credentials.json'))

  expect(signedIn).toMatchObject({
    code: 0,
    stdout: `signed in to ${world.url}, workspace ${shop.name}, as ${reader.email}\n`,
    stderr: '',
  })
  expect(await settings()).toEqual({
    env: { default: { url: world.url, workspace: shop.name } },
    model: 'model.json',
    types: 'schema.ts',
  })
  expect(mode & 0o777).toBe(0o600)
  expect(typed).toMatchObject({ code: 0, stdout: 'schema.ts is written\n' })
  expect(await kept()).not.toContain(reader.password)
})

it('refuses a wrong password, and keeps nothing of it', async () => {
  const refused = await line.governed(byPassword(), { stdin: 'wrong' })
  const asJson = await line.governed([...byPassword(), '--json'], { stdin: 'wrong' })

  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^error: Invalid credentials\nhelp: is the password right\?.*\n$/)
  expect(asJson).toMatchObject({
    code: 1,
    stderr: '',
    json: { message: 'Invalid credentials', help: expect.any(String) },
  })
  await expect(kept()).rejects.toThrow('ENOENT')
  await expect(settings()).rejects.toThrow('ENOENT')
})

it('refuses a workspace that is not there, with the nearest name that they know, and keeps nothing of it', async () => {
  await world.workspace('signings', {})
  const wrong = `${shop.name}x`
  const to = (name: string) => ['login', '--url', world.url, '--workspace', name]
  const sessions = await countSessions()

  const absent = await line.governed([...to(wrong), '--email', reader.email, '--password-stdin'], {
    stdin: reader.password,
  })
  const byKey = await line.governed([...to(wrong), '--key-stdin'], { stdin: key })

  const message = `there is no workspace ${wrong}; did you mean ${shop.name}?`
  for (const refused of [absent, byKey]) {
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: `error: ${message}\nhelp: you are in ${shop.name}\n` })
  }
  expect(await countSessions()).toBe(sessions)
  await expect(settings()).rejects.toThrow('ENOENT')
  expect(JSON.parse(await kept().catch(() => '{}'))).toEqual({})
})

it('takes an API key, once the service has taken it, and shows it nowhere', async () => {
  const refused = await line.governed(['login', ...service(), '--key-stdin'], { stdin: 'no-such-key' })
  const odd = await line.governed(['login', ...service(), '--key-stdin'], { stdin: 'schlüssel ä' })
  const taken = await line.governed(['login', ...service(), '--key-stdin', '--json'], { stdin: `${key}\n` })
  const doctor = await line.governed(['doctor'])

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('error: the service refuses this key\n') })
  expect(odd).toMatchObject({ code: 1, stderr: 'error: what was given is no API key and no access token\n' })
  expect(taken).toMatchObject({ code: 0, json: { data: { name: 'default', email: reader.email } } })
  expect(doctor.stdout).toContain(`${reader.email}, by an API key`)
  expect([refused, odd, taken, doctor].map(({ stdout, stderr }) => stdout + stderr).join()).not.toMatch(
    new RegExp(`${key}|no-such-key|schlüssel`),
  )
})

it('asks on a terminal, and shows nothing of what is secret', async () => {
  const signedIn = await line.governed(['login'], { typed: [world.url, shop.name, reader.email, reader.password] })

  expect(signedIn).toMatchObject({ code: 0, stdout: expect.stringContaining(`as ${reader.email}`) })
  expect(signedIn.stderr).toContain('Password: ')
  expect(signedIn.stderr + signedIn.stdout).not.toContain(reader.password)
})

it.each([
  ['an address', [], '--url'],
  ['a workspace', ['--url', 'https://data.example.com'], '--workspace'],
  [
    'who one is',
    ['--url', 'https://data.example.com', '--workspace', 'w'],
    '--browser, --email E --password-stdin, or --key-stdin',
  ],
  ['a password', ['--url', 'https://data.example.com', '--workspace', 'w', '--email', 'e'], '--password-stdin'],
])('names the flag for %s where there is no terminal', async (_, flags, named) => {
  const refused = await line.governed(['login', ...flags])

  expect(refused).toMatchObject({
    code: 64,
    stdout: '',
    stderr: expect.stringMatching(/^error: .*there is no terminal/),
  })
  expect(refused.stderr).toContain(`help: say ${named}\n`)
})

it('signs in by a browser elsewhere: says where to go with which code, waits, and keeps the session', async () => {
  const session = reader.system
  const approve = async (text: string) => {
    const [, uri, userCode] = /^Open (\S+) in a browser.* the code (\S+)$/m.exec(text) ?? []
    if (uri === undefined) return
    expect(uri).toBe(`${world.url}/api/auth/device`)
    expect((await session.post('/api/auth/device/decision', { userCode, approve: true })).status).toBe(204)
  }
  const signedIn = await line.governed(['login', ...service(), '--browser', '--json'], { onProgress: approve })
  const doctor = await line.governed(['doctor'])

  expect(signedIn).toMatchObject({ code: 0, json: { data: { name: 'default', email: reader.email } } })
  expect(signedIn.stderr).toContain('waiting for somebody to approve it: 10 minutes left\n')
  expect(doctor.stdout).toContain(`${reader.email}, by a session`)
  const { data } = (await (await session.get('/api/system/users/me/sessions')).json()) as { data: { name: string }[] }
  expect(data.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^governed on ./))
})

it('says that a browser declined, and keeps nothing', async () => {
  const session = reader.system
  const decline = async (text: string) => {
    const [, userCode] = /the code (\S+)$/m.exec(text) ?? []
    if (userCode !== undefined) await session.post('/api/auth/device/decision', { userCode, approve: false })
  }
  const declined = await line.governed(['login', ...service(), '--browser'], { onProgress: decline })
  const both = await line.governed(['login', ...service(), '--browser', '--key-stdin'])

  expect(declined).toMatchObject({ code: 1, stderr: expect.stringContaining('error: the sign-in was declined\n') })
  await expect(kept()).rejects.toThrow('ENOENT')
  expect(both).toMatchObject({ code: 64, stderr: expect.stringContaining('--browser stands alone') })
})

it('signs out, which ends the session at the service, too', async () => {
  await line.governed(byPassword(), { stdin: reader.password })
  const { session } = Object.values(JSON.parse(await kept()) as Record<string, { session: string }>)[0] ?? {
    session: '{}',
  }

  const signedOut = await line.governed(['logout'])
  const after = await line.governed(['types'])
  const again = await line.governed(['logout'])
  const answer = await world.bearer(JSON.parse(session).accessToken).get('/api/system/users/me')

  expect(signedOut).toMatchObject({ code: 0, stdout: `signed out of ${world.url}, workspace ${shop.name}\n` })
  expect(after).toMatchObject({ code: 1, stderr: expect.stringContaining('help: sign in: governed login\n') })
  expect(again).toMatchObject({ code: 0, stdout: 'nobody is signed in\n' })
  expect(await kept()).toBe('{}\n')
  expect(answer.status).toBe(401)
})

it('refreshes a token that is over, once for calls at the same time', async () => {
  await line.governed(byPassword(), { stdin: reader.password })
  await tamper({ until: 0 })
  const before = await kept()

  const calls = await Promise.all([1, 2, 3].map((n) => line.governed(['types', '--out', `${n}.ts`])))
  const after = await line.governed(['doctor'])

  expect(calls.map(({ code, stderr }) => [code, stderr])).toEqual(calls.map(() => [0, '']))
  expect(await kept()).not.toBe(before)
  expect(after.stdout).toContain(`${reader.email}, by a session`)
})

it('says that a session is over, and keeps nothing of it', async () => {
  await line.governed(byPassword(), { stdin: reader.password })
  await tamper({ until: 0, refreshToken: 'used up' })

  const over = await line.governed(['types'])
  const asJson = await line.governed(['types', '--json'])

  expect(over).toMatchObject({ code: 1, stderr: 'error: The session is over\nhelp: sign in: governed login\n' })
  expect(asJson).toMatchObject({ code: 1, stderr: '' })
  expect(await kept()).toBe('{}\n')
})

it('goes by variables, flags before them', async () => {
  const env = { GOVERNED_URL: world.url, GOVERNED_WORKSPACE: shop.name, GOVERNED_TOKEN: key }
  await line.governed(['env', 'add', 'gone', '--url', 'http://127.0.0.1:9', '--workspace', 'w'])

  const byVariables = await line.governed(['types', '--json'], { env })
  const byFlag = await line.governed(['types', '--env', 'gone'], { env })
  const refused = await line.governed(['types'], { env: { ...env, GOVERNED_TOKEN: 'over' } })

  expect(byVariables).toMatchObject({ code: 0, json: { data: { file: 'schema.ts', written: true } } })
  expect(byFlag).toMatchObject({ code: 1, stderr: expect.stringContaining('http://127.0.0.1:9 does not answer') })
  expect(refused.stderr).toContain('help: GOVERNED_TOKEN takes an API key or an access token that is still good\n')
})

it('has services by name, one of which counts for this user', async () => {
  const add = (name: string, workspace: string) =>
    line.governed(['env', 'add', name, '--url', `${world.url}/`, '--workspace', workspace])
  await add('staging', shop.name)
  await add('production', 'other')

  const used = await line.governed(['env', 'use', 'staging'])
  const listed = await line.governed(['env'])
  const committed = await settings()
  const removed = await line.governed(['env', 'remove', 'staging'])
  const only = await line.governed(['env', '--json'])

  expect(used.code).toBe(0)
  expect(listed.stdout).toBe(`* staging  ${world.url}  ${shop.name}\n  production  ${world.url}  other\n`)
  expect(committed).toMatchObject({ env: { staging: { url: world.url, workspace: shop.name } } })
  expect(JSON.stringify(committed)).not.toContain('use')
  expect(removed).toMatchObject({ code: 0, stdout: 'staging is removed\n' })
  expect(only.json).toEqual({ data: [{ name: 'production', url: world.url, workspace: 'other', used: true }] })
})

it('sends a credential to its own service alone', async () => {
  await line.governed(byPassword(), { stdin: reader.password })

  const elsewhere = await line.governed(['types'], {
    env: { GOVERNED_URL: world.url.replace('127.0.0.1', 'localhost') },
  })

  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('help: sign in: governed login\n') })
})

it.each([
  [['env', 'use', 'nowhere'], 'there is no environment nowhere'],
  [['env', 'add', 'a b', '--url', 'https://x.example', '--workspace', 'w'], '"a b" is no name of an environment'],
  [['env', 'add', 'a', '--url', 'x.example', '--workspace', 'w'], 'x.example is no address of a service'],
  [
    ['env', 'add', 'a', '--url', 'https://me:secret@x.example', '--workspace', 'w'],
    'an address holds no user and no password',
  ],
  [['env', 'add', 'a'], 'env add takes --url and --workspace'],
  [['env', 'drop', 'a'], 'governed env does not take drop'],
  [['login', '--emial', 'e'], "unknown option '--emial'"],
  [['login', '--key-stdin', '--email', 'e'], '--key-stdin stands alone'],
  [['login', '--password-stdin'], '--password-stdin takes --email'],
  [['typse'], 'there is no command typse; did you mean types?'],
  [['types'], 'no service is known here'],
  [['migrate'], 'governed migrate takes FILE'],
  [['--yes'], '--yes needs a command before it'],
])('refuses the call %j with 64 and what would be right', async (words, message) => {
  const refused = await line.governed(words)
  const asJson = await line.governed([...words, '--json'])

  expect(refused).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining(`error: ${message}`) })
  expect(refused.stderr).not.toContain('secret')
  expect(asJson).toMatchObject({
    code: 64,
    stderr: '',
    json: { message: expect.stringContaining(message), code: 'usage' },
  })
})

it('refuses settings that it does not understand, with the place', async () => {
  await writeFile(join(line.folder, 'governed.json'), '{"environments": {}}')
  const unknown = await line.governed(['types'])
  await writeFile(join(line.folder, 'governed.json'), '{"env": {"a": {"url": 1}}}')
  const wrong = await line.governed(['types'])
  await writeFile(join(line.folder, 'governed.json'), '{')
  const broken = await line.governed(['types'])

  expect(unknown.stderr).toContain('governed.json: environments is not known; there are env, model, types')
  expect(wrong.stderr).toContain('governed.json: env.a must be {"url": "…", "workspace": "…"}')
  expect(broken.stderr).toContain('governed.json is not JSON')
})

it('tells of credentials that others may read', async () => {
  await line.governed(byPassword(), { stdin: reader.password })
  await chmod(join(line.home, 'credentials.json'), 0o644)

  const doctor = await line.governed(['doctor'])

  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('help: chmod 600') })
})

it('shows what there is', async () => {
  const overview = await line.governed([])
  const help = await line.governed(['types', '--help'])
  const version = await line.governed(['--version'])

  expect(overview).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ {2}types +writes the types/m) })
  expect(help.stdout).toMatch(/^governed types \[/)
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

/** Changes what is kept of the session. */
async function tamper(changes: object): Promise<void> {
  const all = JSON.parse(await kept()) as Record<string, { kind: string; session: string }>
  const changed = Object.entries(all).map(([name, { kind, session }]) => [
    name,
    { kind, session: JSON.stringify({ ...JSON.parse(session), ...changes }) },
  ])
  await writeFile(join(line.home, 'credentials.json'), JSON.stringify(Object.fromEntries(changed)))
}
