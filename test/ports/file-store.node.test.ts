/** The suite of the stores of files that Node has, and what only a folder does. */
import { mkdir, mkdtemp, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openFileTable } from '../../src/platform/files/table.ts'
import { openFileFolder } from '../../src/platform/node/file-folder.ts'
import type { SqlDriver } from '../../src/ports.ts'
import { installSchema } from '../../src/store/installation.ts'
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
})

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
