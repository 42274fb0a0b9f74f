/** What the command line keeps of who one is, where several of its processes use it at once (packages/cli). */
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCredentials } from '../../packages/cli/src/credentials.ts'
import { writeText } from '../../packages/cli/src/written-file.ts'

const of = { url: 'http://127.0.0.1:9', workspace: 'shop' }
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'governed-'))
})
afterAll(() => rm(home, { recursive: true }))

it('leaves a session to whoever changes it, and takes what that has kept', async () => {
  const [one, other] = [createCredentials({ home }), createCredentials({ home })]
  const tokens = (name: string, expires: number) => ({ accessToken: name, refreshToken: name, expires })
  let refreshes = 0
  const refusing: typeof fetch = async () => {
    refreshes += 1
    return new Response('{}', { status: 401 })
  }
  await one.signIn(of, async ({ session }) => session?.keep(tokens('over', -1)))
  const held = (await other.load(of)) ?? { kind: 'key', key: '' }

  let headers: unknown
  await one.signIn(of, async ({ session }) => {
    headers = other.authOf(of, held).headers({ url: of.url, fetch: refusing, refused: false })
    // Meanwhile the other one would have read what is over.
    for (let count = 0; count < 20; count += 1) await one.load(of)
    await session?.keep(tokens('new', 900))
  })

  expect(await headers).toEqual({ Authorization: 'Bearer new' })
  expect(refreshes).toBe(0)
})

it.each([
  [0o644, 0o600, 0o600],
  [0o400, 0o600, 0o400],
  [0o640, undefined, 0o640],
])('writes a file that is there, %o, and is to be %o, with no more rights than both', async (before, wanted, after) => {
  const path = join(home, `${before}.json`)
  await writeFile(path, '[]')
  await chmod(path, before)

  await writeText(path, '[1]', wanted === undefined ? {} : { mode: wanted })

  expect((await stat(path)).mode & 0o777).toBe(after)
})

it('makes a private file in a folder that nobody else looks into', async () => {
  const folder = join(home, 'private')

  await writeText(join(folder, 'made.json'), '[]', { mode: 0o600 })

  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'made.json'))).mode & 0o777).toBe(0o600)
})
