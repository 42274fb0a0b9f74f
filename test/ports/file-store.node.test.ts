/** The suite of the stores of files that Node has, and what only a folder does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openFileTable } from '../../src/platform/files/table.ts'
import { openFileFolder } from '../../src/platform/node/file-folder.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { installSchema } from '../../src/store/installation.ts'
import { roundsOr } from '../support/run/cases.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { bytesOf, describeFileStore, newKey, numbered, openChecked, sameBytes } from './file-store.ts'

const folder = await mkdtemp(join(tmpdir(), 'files-'))
let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
  await installSchema(database)
  await writeFile(join(folder, 'file'), '')
})

afterAll(async () => {
  await database.close()
  await postgres.close()
  await rm(folder, { recursive: true })
})

describeFileStore('a folder', {
  open: () => openFileFolder(join(folder, 'made', 'later')),
  unreachable: { open: () => openFileFolder(join(folder, 'file', 'below')), told: `'${join(folder, 'file', 'below')}` },
})

describeFileStore('a table of the system database', {
  open: () => openFileTable(database),
  unreachable: {
    open: () => openFileTable(openPostgres({ connectionString: 'postgres://127.0.0.1:1/none' })),
    told: 'ECONNREFUSED',
  },
})

describe('FileStore: a folder of its own', () => {
  it('lets nobody else read what is in it', async () => {
    const { files, root } = openOwn()
    const key = newKey()

    await files.put(key, 1, numbered(10))

    const [workspace = ''] = key.split('/')
    const places = [root, join(root, workspace), join(root, key), join(root, key, '1')]
    const modes = await Promise.all(places.map(async (place) => ((await stat(place)).mode & 0o777).toString(8)))
    expect(modes).toEqual(['700', '700', '700', '600'])
  })

  it('shows no part that is not whole, and removes what a crash has left of one with its key', async () => {
    const { files, root } = openOwn()
    const key = newKey()
    await files.put(key, 1, numbered(10))
    await writeFile(join(root, key, `.2.${crypto.randomUUID()}`), 'half')

    const parts = await files.parts(key)
    await files.clear(key)

    expect(parts).toEqual([{ number: 1, size: 10 }])
    const [workspace = ''] = key.split('/')
    expect(await readdir(join(root, workspace))).toEqual([])
  })

  it('leaves no half of a part that could not be stored', async () => {
    const { files, root } = openOwn()
    const key = newKey()
    await files.put(key, 1, numbered(10))
    await rm(join(root, key, '1'))
    // A folder in the place of the part, which nothing can be renamed to.
    await files.put(key, 2, numbered(10))
    await mkdir(join(root, key, '1', 'inside'), { recursive: true })

    await expect(files.put(key, 1, numbered(10))).rejects.toMatchObject({ kind: 'unavailable' })

    expect((await readdir(join(root, key))).toSorted()).toEqual(['1', '2'])
  })

  it('has what it has acknowledged, and nothing in halves, when its process is killed', async () => {
    const rounds = Array.from({ length: roundsOr(20) }, (_, round) => round)

    for (const round of rounds) {
      const { files, root } = openOwn()
      const key = newKey()
      const acknowledged = await killedAfter(5 + round, [root, key])
      const parts = await files.parts(key)
      const isWhole = parts.map(async ({ number, size }) => {
        const bytes = await bytesOf(files.read(key, number, 0, size))
        return size === 1024 ** 2 && bytes.every((byte) => byte === number)
      })

      expect(parts.length).toBeGreaterThanOrEqual(acknowledged)
      expect(await Promise.all(isWhole)).toEqual(parts.map(() => true))
    }
  })

  it('reads on what was replaced or removed meanwhile, and lets go of it', async () => {
    const { files } = openOwn()
    const key = newKey()
    const bytes = numbered(1024 ** 2)
    await files.put(key, 1, bytes)
    const streams = [await files.read(key, 1, 0, bytes.length), await files.read(key, 1, 0, bytes.length)]

    await files.put(key, 1, numbered(3))
    await files.clear(key)

    const [first, second] = streams
    expect(sameBytes(await bytesOf(Promise.resolve(first as ReadableStream)), bytes)).toBe(true)
    await second?.cancel()
    expect(await openHandles(key)).toEqual([])
  })

  it('lets go of what it reads when its reader leaves meanwhile', async () => {
    const { files } = openOwn()
    const key = newKey()
    await files.put(key, 1, numbered(1024 ** 2))
    const reader = (await files.read(key, 1, 0, 1024 ** 2)).getReader()

    const reading = reader.read()
    await reader.cancel()

    expect(await reading).toEqual({ done: true, value: undefined })
    expect(await openHandles(key)).toEqual([])
  })
})

/** How many parts a process has acknowledged that is killed as soon as it has acknowledged so many. */
async function killedAfter(count: number, [root, key]: readonly [string, string]): Promise<number> {
  const program = new URL('./file-store.writer.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, root, key], { stdio: ['ignore', 'pipe', 'inherit'] })
  let lines = ''
  child.stdout.on('data', (chunk) => {
    lines += chunk
    if (lines.split('\n').length > count) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return lines.split('\n').length - 1
}

function openOwn() {
  const root = join(folder, crypto.randomUUID())
  return { root, ...openChecked(openFileFolder(root)) }
}

/** The files below a key that this process has open. */
async function openHandles(key: string): Promise<readonly string[]> {
  const names = await readdir('/proc/self/fd')
  const targets = await Promise.all(names.map((name) => readlink(join('/proc/self/fd', name)).catch(() => '')))
  return targets.filter((target) => target.includes(key))
}
