/** The engine of the embedded database is a process: what its death costs, what ends it, and what it is started with. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockDirectory } from '../../src/platform/node/embedded/directory-lock.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/node/embedded/postgres.ts'
import { askEmbedded, computedBy, connectEmbedded, engineOf, stop } from '../support/servers/embedded-client.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'

const endless = 'select count(*) from generate_series(1, 100000) a, generate_series(1, 1000000) b'

const made: string[] = []
let directory: string
let embedded: EmbeddedPostgres | undefined

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'embedded-'))
  made.push(directory)
  await prepareEmbedded(directory)
})

afterEach(async () => {
  await embedded?.close()
  embedded = undefined
})

afterAll(() => Promise.all(made.map((path) => rm(path, { recursive: true, force: true }))))

describe('the engine of the embedded database', () => {
  it.each(['SIGKILL', 'SIGSEGV'] as const)('that dies by %s costs the statement that runs', async (signal) => {
    embedded = await openEmbeddedPostgres({ directory })
    await askEmbedded(embedded, `create table note as select 'kept' as text`)
    const died = expect(askEmbedded(embedded, endless)).rejects.toThrow('the embedded database had to be restarted')
    await busy(await engine())

    process.kill(await engine(), signal)

    await died
    expect(await askEmbedded(embedded, 'select text from note')).toEqual([{ text: 'kept' }])
  })

  it('that dies between two statements costs the transaction', async () => {
    embedded = await openEmbeddedPostgres({ directory })
    await askEmbedded(embedded, 'create table note (text text)')
    const client = await connectEmbedded(embedded)
    await client.query('begin')
    await client.query(`insert into note values ('before')`)

    await kill(await engine())
    // On a new engine it would be written by itself.
    await expect(client.query(`insert into note values ('after')`)).rejects.toThrow('had to be restarted')

    expect(await askEmbedded(embedded, 'select text from note')).toEqual([])
  })

  it('that panics, as on a full disk, is opened again', async () => {
    embedded = await openEmbeddedPostgres({ directory })
    await askEmbedded(embedded, `create table note as select 'kept' as text`)
    const log = join(directory, 'cluster', 'pg_wal')
    const much = `insert into note select repeat(md5(g::text), 10) from generate_series(1, 100000) g`

    await rename(log, `${log}.away`)
    await expect(askEmbedded(embedded, much)).rejects.toMatchObject({ severity: 'PANIC' })
    await rename(`${log}.away`, log)

    expect(await askEmbedded(embedded, 'select text from note')).toEqual([{ text: 'kept' }])
  })

  it.each(['SIGKILL', 'SIGSEGV'] as const)('that dies by %s while it opens is started again', async (signal) => {
    const unblock = await block()
    const opening = openEmbeddedPostgres({ directory })
    const first = await named()

    process.kill(first, signal)
    unblock()
    embedded = await opening

    expect(await engine()).not.toBe(first)
    expect(await askEmbedded(embedded, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('that dies whenever it opens is given up, with the reason', async () => {
    await block()
    let isOpening = true
    const opening = openEmbeddedPostgres({ directory }).catch((error) => {
      isOpening = false
      return error
    })

    let last: number | undefined
    const killed = new Set<number>()
    while (isOpening) {
      last = await engineOf(directory)
      if (last !== undefined && !killed.has(last)) process.kill(last, 'SIGSEGV')
      if (last !== undefined) killed.add(last)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }

    expect(await opening).toMatchObject({
      message: `the embedded database in ${directory} cannot be opened`,
      cause: { message: 'the process of the embedded database has ended (SIGSEGV)' },
    })
    expect(killed.size).toBe(4)
    expect(await readdir(directory)).toEqual(['cluster'])
  })

  it('that cannot open is not started again, and says why', async () => {
    await rm(join(directory, 'cluster'), { recursive: true })
    await writeFile(join(directory, 'cluster'), '')

    const error = await openEmbeddedPostgres({ directory }).catch((cause) => cause)

    expect(error.cause.message).toBe('the process of the embedded database has ended (code 1)')
    expect(error.cause.cause.message).toMatch(/Error/)
    expect(await readdir(directory)).toEqual(['cluster'])
  })

  it('is ended and opened again any number of times, and keeps what was committed', async () => {
    embedded = await openEmbeddedPostgres({ directory })
    await askEmbedded(embedded, 'create table note (n int)')
    const engines = new Set<number>()

    for (let round = 0; round < 12; round += 1) {
      await askEmbedded(embedded, `insert into note values (${round})`)
      engines.add(await engine())
      const client = await connectEmbedded(embedded)
      const ended = client.query(endless).catch(() => 'ended')
      await busy(await engine())
      client.connection.stream.destroy()
      expect(await ended).toBe('ended')
    }

    expect(await askEmbedded(embedded, 'select count(*)::int, max(n) from note')).toEqual([{ count: 12, max: 11 }])
    expect(engines.size).toBe(12)
    for (const pid of engines) expect(await computedBy(pid)).toBeUndefined()
  })

  it('goes on after signals to its process group, which are for the process that closes it', async () => {
    embedded = await openEmbeddedPostgres({ directory })
    const first = await engine()

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.kill(first, signal)
      expect(await askEmbedded(embedded, 'select 1 as one')).toEqual([{ one: 1 }])
    }

    expect(await engine()).toBe(first)
  })

  it('gets none of our variables, and no inspector, which would wait for a debugger', async () => {
    const { NODE_OPTIONS } = process.env
    Object.assign(process.env, { NODE_OPTIONS: '--inspect-brk=127.0.0.1:0', SERVICE_ENGINE_TEST: 'secret' })
    try {
      embedded = await openEmbeddedPostgres({ directory })
    } finally {
      delete process.env.SERVICE_ENGINE_TEST
      if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS
      else process.env.NODE_OPTIONS = NODE_OPTIONS
    }

    const environment = await readFile(`/proc/${await engine()}/environ`, 'utf8')
    expect(environment).not.toContain('SERVICE_ENGINE_TEST')
    expect(environment).toContain('NODE_OPTIONS=')
  })
})

describe('an engine whose parent was killed', () => {
  it('ends although a statement runs, and the next one opens its files', async () => {
    const parent = await spin()
    const orphan = await engine()

    await kill(parent)

    await expect.poll(() => computedBy(orphan)).toBeUndefined()
    embedded = await openEmbeddedPostgres({ directory })
    expect(await askEmbedded(embedded, 'select text from note')).toEqual([{ text: 'kept' }])
  })

  it('is ended by the next one, before that opens its files, if it could not end by itself', async () => {
    const parent = await spin()
    const orphan = await engine()
    await stop(orphan)
    await kill(parent)
    expect(await computedBy(orphan)).toBeDefined()

    const { release } = await lockDirectory(directory)

    expect(await computedBy(orphan)).toBeUndefined()
    release()
  })

  it('is not taken for another process that has its id now', async () => {
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    const { nameWriter, release } = await lockDirectory(directory)
    nameWriter(bystander.pid ?? 0)
    const path = join(directory, 'process.lock')
    const { writer, ...owner } = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...owner, started: '1', writer: { ...writer, started: '1' } }))

    const next = await lockDirectory(directory)

    expect(await computedBy(bystander.pid ?? 0)).toBeDefined()
    next.release()
    await kill(bystander)
    release()
  })
})

async function engine(): Promise<number> {
  const pid = await engineOf(directory)
  if (pid === undefined) throw new Error('no engine is named')
  return pid
}

/** Keeps engines from opening the files, for as long as nobody writes into a pipe; what it answers lets the next ones. */
async function block(): Promise<() => void> {
  const file = join(directory, 'cluster', 'PG_VERSION')
  await rename(file, `${file}.away`)
  await promisify(execFile)('mkfifo', [file])
  return () => renameSync(`${file}.away`, file)
}

/** The engine, as soon as it is named, which is before it opens its files. */
async function named(): Promise<number> {
  for (;;) {
    const pid = await engineOf(directory)
    if (pid !== undefined) return pid
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Resolves when it has computed for a while that nothing but an endless statement takes. */
async function busy(pid: number): Promise<void> {
  const before = (await computedBy(pid)) ?? 0
  await expect.poll(async () => ((await computedBy(pid)) ?? 0) - before).toBeGreaterThan(200)
}

/** Starts a process whose engine runs an endless statement. */
async function spin(): Promise<ChildProcess> {
  const script = join(import.meta.dirname, '../support/servers/embedded-spinner.ts')
  const parent = spawn(process.execPath, [script, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(parent.stdout, 'data')
  await busy(await engine())
  return parent
}

async function kill(process_: ChildProcess | number): Promise<void> {
  if (typeof process_ === 'number') {
    process.kill(process_, 'SIGKILL')
    await expect.poll(() => computedBy(process_)).toBeUndefined()
    return
  }
  const closed = once(process_, 'close')
  process_.kill('SIGKILL')
  await closed
}
