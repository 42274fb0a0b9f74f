/** What the embedded database adds to a Postgres: one owner of its directory, turns, and survival of its process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { utimesSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDataDirectory } from '../../src/platform/node/embedded/data-directory.ts'
import { lockDirectory } from '../../src/platform/node/embedded/directory-lock.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/node/embedded/postgres.ts'
import { connectEmbedded as connect, askEmbedded as run } from '../support/servers/embedded-client.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'

const made: string[] = []
afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true, force: true }))))

describe('a connection to the embedded database', () => {
  let directory: string
  let embedded: EmbeddedPostgres

  beforeAll(async () => {
    directory = await temporary()
    await prepareEmbedded(directory)
    embedded = await openEmbeddedPostgres({ directory })
    await run(embedded, 'create table note (text text)')
  })

  afterAll(() => embedded.close())

  beforeEach(() => run(embedded, 'truncate note'))

  it('is rolled back when it closes inside a transaction, and then lets the next one in', async () => {
    const client = await connect(embedded)
    await client.query('begin')
    await client.query(`insert into note values ('unfinished')`)
    await client.query(`set search_path to nowhere`)
    const waiting = run(embedded, 'select count(*) from note')

    client.connection.stream.destroy()

    expect(await waiting).toEqual([{ count: '0' }])
    expect(await run(embedded, 'show search_path')).toEqual([{ search_path: 'public' }])
  })

  it('is rolled back and ended when it is idle inside a transaction for too long', async () => {
    // Opened with a short limit for this test alone: on a busy machine it is reached by whoever does anything in between.
    await embedded.close()
    embedded = await openEmbeddedPostgres({ directory, idleInTransaction: 1_000 })
    const client = await connect(embedded)
    const ended = once(client, 'error')
    // In one message, so that it is not idle before it has written.
    await client.query(`begin; insert into note values ('forgotten')`)

    expect(await run(embedded, 'select count(*) from note')).toEqual([{ count: '0' }])
    expect(await ended).toMatchObject([{ code: '25P03' }])
    await embedded.close()
    embedded = await openEmbeddedPostgres({ directory })
  })

  it('has its transaction to itself', async () => {
    const client = await connect(embedded)
    await client.query('begin')
    const order: string[] = []
    const other = run(embedded, `insert into note values ('second')`).then(() => order.push('other'))

    await client.query(`insert into note values ('first')`)
    await client.query('commit').then(() => order.push('commit'))
    await other

    expect(order).toEqual(['commit', 'other'])
    expect(await run(embedded, 'select text from note')).toEqual([{ text: 'first' }, { text: 'second' }])
    await client.end()
  })

  it('is refused a named statement, which fails its transaction, and goes on', async () => {
    const client = await connect(embedded)
    await client.query('begin')
    await client.query(`insert into note values ('before')`)

    await expect(client.query({ name: 'mine', text: 'select 1' })).rejects.toMatchObject({ code: '0A000' })

    await expect(client.query('select 1')).rejects.toMatchObject({ code: '25P02' })
    await client.query('commit')
    expect((await client.query('select text from note')).rows).toEqual([])
    await client.end()
  })

  it('goes on after errors of both protocols', async () => {
    const client = await connect(embedded)

    await expect(client.query('select nothing')).rejects.toMatchObject({ code: '42703' })
    await expect(client.query('select $1::nothing', ['1'])).rejects.toMatchObject({ code: '42704' })
    await expect(client.query('select 1 / $1::int', ['0'])).rejects.toMatchObject({ code: '22012' })

    expect((await client.query('select $1::text as answer', ['still here'])).rows).toEqual([{ answer: 'still here' }])
    await client.end()
  })

  it('ends alone when the engine dies: what was committed is there for the next one', async () => {
    await run(embedded, `insert into note values ('committed')`)
    const client = await connect(embedded)

    await expect(client.query('copy note from stdin')).rejects.toBeInstanceOf(Error)

    expect(await run(embedded, 'select text from note')).toEqual([{ text: 'committed' }])
    expect(process.exitCode).toBeUndefined()
  })

  it('keeps instants in UTC, also after a reset', async () => {
    const client = await connect(embedded)
    await client.query(`set time zone 'Asia/Tokyo'`)

    await client.query('reset all')

    expect((await client.query(`select '2024-01-01 12:00+02'::timestamptz::text as t`)).rows).toEqual([
      { t: '2024-01-01 10:00:00+00' },
    ])
    await client.end()
  })
})

describe('the directory of the embedded database', () => {
  let directory: string

  beforeEach(async () => {
    directory = await temporary()
  })

  it('is refused to a second owner while the first one lives, and keeps its data for the next one', async () => {
    await prepareEmbedded(directory)
    const first = await openEmbeddedPostgres({ directory })
    await run(first, `create table note as select 'kept' as text`)

    await expect(openEmbeddedPostgres({ directory })).rejects.toThrow(
      `the data directory ${directory} is in use by process ${process.pid}`,
    )

    await first.close()
    const second = await openEmbeddedPostgres({ directory })
    expect(await run(second, 'select text from note')).toEqual([{ text: 'kept' }])
    await second.close()
    expect(await readdir(directory)).toEqual(['cluster'])
  })

  it('starts again after a first start that was interrupted', async () => {
    const child = write(directory, 1)
    await until(async () => (await readdir(directory)).includes('cluster.new'))
    await kill(child)

    const embedded = await openEmbeddedPostgres({ directory })

    expect(await run(embedded, 'select 1 as one')).toEqual([{ one: 1 }])
    await embedded.close()
  })

  it('is taken over from a process that was killed, with every acknowledged write', async () => {
    await prepareEmbedded(directory)
    const acknowledged: string[] = []
    for (const round of [1, 2, 3]) {
      const child = write(directory, round * 100_000)
      child.stdout?.on('data', (chunk) => acknowledged.push(...String(chunk).trim().split('\n')))
      const before = acknowledged.length
      await until(async () => acknowledged.length > before + 100 * round)
      await kill(child)
      expect(await readdir(directory)).toContain('process.lock')
    }

    const embedded = await openEmbeddedPostgres({ directory })

    const rows = (await run(embedded, 'select id::text from written')) as { id: string }[]
    const kept = new Set(rows.map(({ id }) => id))
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
    // At most the write that was under way in each round is there without having been acknowledged.
    expect(kept.size - acknowledged.length).toBeLessThanOrEqual(3)
    await embedded.close()
  })

  it('cannot be what is not a directory', async () => {
    const file = join(directory, 'file')
    await writeFile(file, '')

    await expect(openEmbeddedPostgres({ directory: join(file, 'data') })).rejects.toThrow(
      `the data directory ${join(file, 'data')} cannot be used: a part of the path is not a directory`,
    )
  })
})

describe.concurrent('a lock of a directory', () => {
  it('of a dead process whose id is in use again is taken over', async ({ expect }) => {
    const directory = await temporary()
    const { release } = await lockDirectory(directory)
    const owner = JSON.parse(await readFile(join(directory, 'process.lock'), 'utf8'))
    release()
    await writeFile(join(directory, 'process.lock'), JSON.stringify({ ...owner, started: '1' }))

    const again = await lockDirectory(directory)

    expect(await readdir(directory)).toEqual(['process.lock'])
    again.release()
    expect(await readdir(directory)).toEqual([])
  })

  it('is had by one of many that ask at the same time', async ({ expect }) => {
    const directory = await temporary()
    await writeFile(join(directory, 'process.lock'), 'left by a crash')

    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => lockDirectory(directory)))

    const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(winners).toHaveLength(1)
    for (const { value: lock } of winners) lock.release()
    expect(await readdir(directory)).toEqual([])
  })

  it('of another container holds as long as its heart beats', async ({ expect }) => {
    const directory = await temporary()
    const path = join(directory, 'process.lock')
    await writeFile(path, JSON.stringify({ pid: 1, machine: 'elsewhere', space: 'elsewhere', started: '1' }))
    // Whoever looks does so by timers of this process, too, between which the heart beats.
    const heart = setInterval(() => utimesSync(path, new Date(), new Date()), 500)

    await expect(lockDirectory(directory)).rejects.toThrow('in use by process 1 on elsewhere')
    clearInterval(heart)
    const { release } = await lockDirectory(directory)

    expect(JSON.parse(await readFile(path, 'utf8')).pid).toBe(process.pid)
    release()
  })
})

describe('a data directory', () => {
  it('makes a secret once, for its owner only', async () => {
    const parent = await temporary()
    const directory = openDataDirectory(join(parent, 'new', 'data'))

    const secret = directory.secret('service')

    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(openDataDirectory(directory.path).secret('service')).toBe(secret)
    expect(directory.secret('other')).not.toBe(secret)
    expect((await stat(directory.path)).mode & 0o777).toBe(0o700)
    expect((await stat(join(directory.path, 'service'))).mode & 0o777).toBe(0o600)
    expect(await readdir(directory.path)).toEqual(['other', 'service'])
  })
})

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-'))
  made.push(directory)
  return directory
}

function write(directory: string, first: number): ChildProcess {
  const script = new URL('../support/servers/embedded-writer.ts', import.meta.url).pathname
  return spawn(process.execPath, [script, directory, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
}
