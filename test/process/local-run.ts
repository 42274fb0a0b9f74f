/** What a newcomer and an operator meet when they run the service on their machine, whichever platform serves it. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstOf } from '../support/run/cases.ts'
import { effort } from '../support/run/effort.ts'
import { copyPrepared } from '../support/run/prepared.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'
import { freePort } from '../support/servers/free-port.ts'
import { generousLicense } from '../support/service/license.ts'
import {
  asShipped,
  killAtFile,
  type LocalRun,
  signalWhile,
  startLocalRun,
  startRefused,
} from '../support/service/local-run.ts'

const isFull = effort() === 'full'

/** Milliseconds; one start after the other, nine in all. */
const SWEEP = 600_000

/** `script` is the name of the npm script. */
export function describeLocalRun(script: string): void {
  let directory: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'local-run-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  const at = (name: string) => ({ SERVICE_DATA_DIR: join(directory, name) })

  /** With all that a first start makes, but for the demo: what is not about a first start need not wait for that. */
  const prepared = async (name: string) => {
    await copyPrepared('local-run', join(directory, name), async (empty) => {
      await prepareEmbedded(join(empty, 'postgres'))
      const first = await startLocalRun(script, { SERVICE_DATA_DIR: empty, SERVICE_DEMO: 'false' })
      await first.interrupt()
    })
    return at(name)
  }

  const temporary = async (name: string) => {
    const path = join(directory, `temporary-${name}`)
    await mkdir(path)
    return path
  }

  describe(`npm run ${script}`, () => {
    // The demo is loaded by one program for both.
    if (isFull || script === 'start') describeFirstStart()

    it.each(firstOf(['SIGTERM', 'SIGINT', 'SIGKILL'] as const, script === 'start' ? 0 : 1))(
      'leaves no process and no lock when npm ends by %s',
      async (signal) => {
        const run = await startLocalRun(script, { ...(await prepared(signal)), SERVICE_DEMO: 'false' })

        await run.endNpm(signal)

        // npm does not wait for it any more.
        await expect.poll(run.processes).toEqual([])
        expect(existsSync(join(directory, signal, 'postgres/process.lock'))).toBe(false)
      },
    )
  })

  function describeFirstStart(): void {
    it('prints one block whose curl line returns real rows, keeps data over a restart, and leaves no process', async () => {
      // The set-up of the others makes an embedded database, too.
      if (!isFull) await prepareEmbedded(join(directory, 'demo/postgres'))
      const first = await startLocalRun(script, { ...at('demo'), ...(isFull && asShipped) })
      const rows = await (await first.curl()).json()
      const posters = '/api/demo/items/films?limit=1&fields=poster.id,poster.mediaType'
      const { data: films } = (await (await first.curl(posters)).json()) as { data: { poster: { id: string } }[] }
      const poster = await first.curl(`/api/demo/assets/${films[0]?.poster.id}?preset=64`)
      const bare = await (await first.curl('/api/demo/items/films?limit=1&filter[posterId][_null]=true')).json()
      await first.interrupt()
      // It closes its output a moment before it is gone.
      await expect.poll(first.processes).toEqual([])
      const isLocked = existsSync(join(directory, 'demo/postgres/process.lock'))

      const second = await startLocalRun(script, at('demo'))
      const rowsAgain = await (await second.curl()).json()
      await second.endNpm('SIGTERM')
      await expect.poll(second.processes).toEqual([])

      expect(first.output()).toMatch(/Administrator +admin@example\.com, password \S{16} \(shown once\)/)
      // Lines of the log may stand before the block where the machine is slow.
      expect(first.output()).toMatch(/Governed data service on .*\n(?:.*\n){1,10} +Try it/)
      expect(rows).toEqual({
        data: Array.from({ length: 3 }, () => ({
          departedAt: expect.stringMatching(/^2001-/),
          delayMinutes: expect.any(Number),
          origin: { name: expect.any(String) },
          destination: { city: expect.any(String) },
        })),
      })
      expect([films, poster.status, bare]).toMatchObject([[{ poster: { mediaType: 'image/webp' } }], 200, { data: [] }])
      expect(isLocked).toBe(false)
      expect(rowsAgain).toEqual(rows)
      expect(second.output()).not.toContain('password')
    })
  }

  if (isFull) describeInterruptedStarts()

  describe(`npm run ${script}, while it serves`, () => {
    const variables = () => ({ ...at('serving'), SERVICE_DEMO: 'false', SERVICE_COLOUR: 'green', TMPDIR })
    let TMPDIR: string
    let run: LocalRun

    beforeAll(async () => {
      await prepared('serving')
      TMPDIR = await temporary('serving')
      run = await startLocalRun(script, { ...variables(), PORT: String(await freePort()) })
    })
    afterAll(async () => {
      await run.interrupt()
    })

    it('warns of a variable that nobody reads', () => {
      expect(run.output()).toContain('SERVICE_COLOUR is not a known variable')
    })

    it('shows requests on its console', async () => {
      const response = await fetch(`${run.url}/api/system/info`)

      await expect.poll(run.output).toContain(response.headers.get('X-Request-Id'))
    })

    it('prints the mails that it would send, with links that work', async () => {
      const body = JSON.stringify({ email: 'admin@example.com' })
      const headers = { 'Content-Type': 'application/json' }

      await fetch(`${run.url}/api/auth/password-reset/request`, { method: 'POST', headers, body })

      const link = () =>
        /http:\/\/127\.0\.0\.1:\d+\/api\/auth\/password-reset\/verify\?token=[\w-]{43}/.exec(run.output())?.[0]
      await expect.poll(link).toBeDefined()
      expect((await fetch(link() ?? '')).status).toBe(204)
    })

    it('refuses a second one on its data directory', async () => {
      const refusal = await startRefused(script, variables())

      expect(refusal).toEqual({ code: 1, output: expect.stringMatching(cannotStart) })
      expect(refusal.output).toMatch(/data directory \S+ is in use by process \d+/)
    })

    // One program keeps what is written for both.
    if (isFull || script === 'start:node') describeKill()

    function describeKill(): void {
      it('loses no acknowledged write and leaves no temporary file when it is killed, and starts again on the same port', async () => {
        const key = await readFile(join(directory, 'serving/api-key'), 'utf8')
        const { hostname, port } = new URL(run.url)
        await createNotes(run.url, key)

        const acknowledged = await writeUntilKilled(run, key)
        await expect.poll(() => readdir(TMPDIR)).toEqual([])
        run = await startLocalRun(script, { ...variables(), SERVICE_HOST: hostname, PORT: port })
        const response = await request(run.url, key, 'GET', '/api/notes/items/notes?fields=id&limit=0')

        const { data } = (await response.json()) as { data: { id: number }[] }
        const kept = new Set(data.map(({ id }) => id))
        expect(acknowledged.length).toBeGreaterThanOrEqual(100)
        expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
      })
    }
  })

  // What is wrong is found by one program for both.
  if (isFull || script === 'start:node') describeRefusals()

  /** Starts that end at once. */
  function describeRefusals(): void {
    describe(`npm run ${script} ends with what is wrong and what to do, without a stack:`, () => {
      it('a port in use', async () => {
        const other = createServer().listen(0, '127.0.0.1')
        await new Promise((resolve) => other.once('listening', resolve))
        const { port } = other.address() as AddressInfo

        const refusal = await startRefused(script, { ...at('demo'), PORT: String(port) })
        other.close()

        expect(refusal).toEqual({ code: 1, output: expect.stringMatching(cannotStart) })
        expect(refusal.output).toContain(`127.0.0.1:${port} is in use by another program; set PORT to a free port`)
      })

      it('a data directory below a file', async () => {
        await writeFile(join(directory, 'file'), '')

        const refusal = await startRefused(script, at('file/data'))

        expect(refusal).toEqual({ code: 1, output: expect.stringMatching(cannotStart) })
        expect(refusal.output).toMatch(/the data directory \S+ cannot be used: a part of the path is not a directory/)
      })

      it('a data directory that may not be written, not even by root', async () => {
        const refusal = await startRefused(script, { SERVICE_DATA_DIR: '/sys/service-data' })

        expect(refusal).toEqual({ code: 1, output: expect.stringMatching(cannotStart) })
        expect(refusal.output).toMatch(
          /the data directory \S+ cannot be used: (permission denied|operation not permitted|the file system is read-only)/,
        )
      })

      it('wrong values, each with its variable, and without the value', async () => {
        const wrong = { PORT: 'http', SERVICE_SECRET: 'too-short', SERVICE_DEMO: 'maybe' }

        const refusal = await startRefused(script, { ...at('wrong'), ...wrong })

        expect(refusal).toEqual({ code: 1, output: expect.stringMatching(cannotStart) })
        expect(refusal.output).toContain('PORT must be a port number')
        expect(refusal.output).toContain('SERVICE_SECRET must have at least 32 bytes')
        expect(refusal.output).toContain('SERVICE_DEMO must be true or false')
        expect(refusal.output).not.toContain('too-short')
      })

      it('a license that is none', async () => {
        const license = { ...(await generousLicense()), SERVICE_LICENSE__TOKEN: 'no.license.token' }

        const refusal = await startRefused(script, { ...(await prepared('unlicensed')), ...license })

        expect(refusal.code).toBe(1)
        expect(refusal.output).toContain('The service cannot start:\n  SERVICE_LICENSE__TOKEN is malformed')
        expect(refusal.output).not.toContain('no.license.token')
      })
    })
  }

  /** Starts that are killed, and signals at any moment of a start. */
  function describeInterruptedStarts(): void {
    describe(`npm run ${script}, when it is interrupted`, () => {
      it('finishes what a first start has begun that was killed', async () => {
        await prepareEmbedded(join(directory, 'killed/postgres'))
        await killAtFile(script, at('killed'), join(directory, 'killed/demo-is-loading'))

        const run = await startLocalRun(script, at('killed'))
        const rows = await (await run.curl()).json()
        await run.interrupt()

        expect(rows).toEqual({ data: [expect.anything(), expect.anything(), expect.anything()] })
        expect(run.output()).toContain('(shown once)')
      })
    })

    describe(`npm run ${script}, which starts and ends`, () => {
      let output: string
      /** Milliseconds of a start and its end. */
      let whole: number

      beforeAll(async () => {
        const variables = { ...(await prepared('whole')), SERVICE_DEMO: 'false' }
        const begun = performance.now()
        const run = await startLocalRun(script, variables)
        await run.interrupt()
        whole = performance.now() - begun
        output = run.output()
      })

      it('says what it does while it starts, and where its data is', () => {
        const [before = ''] = output.split('Address')
        expect(before).toMatch(/^Opening the embedded database\n.*[Ss]tarting the (Worker|service)\n/)
        expect(output).toContain(`Data           ${join(directory, 'whole')}\n`)
      })

      it.each(['SIGTERM', 'SIGINT'] as const)(
        'told to by %s, leaves no lock, no process and no temporary file, whenever that is',
        async (signal) => {
          const TMPDIR = await temporary(signal)
          const variables = { ...(await prepared(`signalled-${signal}`)), SERVICE_DEMO: 'false', TMPDIR }
          const moments = Array.from({ length: 8 }, (_, n) => Math.round((whole * (n + 1)) / 8))

          for (const moment of [...moments, 'ready'] as const) {
            const { processes, output } = await signalWhile(script, variables, { signal, moment })

            await expect.poll(processes, { message: `after ${moment} ms` }).toEqual([])
            expect(existsSync(join(directory, `signalled-${signal}/postgres/process.lock`)), `after ${moment} ms`).toBe(
              false,
            )
            await expect.poll(() => readdir(TMPDIR), { message: `after ${moment} ms` }).toEqual([])
            expect(output).not.toMatch(/cannot start|failed to shut down/)
          }
        },
        SWEEP,
      )
    })
  }
}

/** The whole output: what was being done, a title, and lines that none looks like a stack. */
const cannotStart = /^(?:[A-Z][\w ,]+\n)*\s*The service cannot start:\n((?! +at ).*\n)+\s*$/

async function createNotes(url: string, key: string): Promise<void> {
  await request(url, key, 'POST', '/api/system/workspaces', { apiName: 'notes' })
  const sources = await request(url, key, 'GET', '/api/notes/items/ServiceDataSource?fields=id')
  const { data } = (await sources.json()) as { data: [{ id: string }] }
  const [id, fieldId, indexId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
  const field = { id: fieldId, dbName: 'id', apiName: 'id', type: { name: 'int32' }, isNullable: false, isList: false }
  const operations = [
    { kind: 'createPrimitiveField', data: { ...field, defaultValue: null } },
    { kind: 'createIndex', data: { id: indexId, kind: 'primary', fieldIds: [fieldId] } },
  ]
  const collection = { id, sourceId: data[0].id, namespaceId: null, dbName: 'notes', apiName: 'notes', operations }
  await request(url, key, 'POST', '/api/notes/schema/migrate', {
    operations: [{ kind: 'createCollection', data: collection }],
  })
}

/** Four clients write one item after the other; the ids whose answers arrived are acknowledged. Killed after a hundred. */
async function writeUntilKilled(run: LocalRun, key: string): Promise<readonly number[]> {
  const acknowledged: number[] = []
  const { promise: hundred, resolve: haveHundred } = Promise.withResolvers<void>()
  let next = 0
  const write = async () => {
    for (;;) {
      next += 1
      const id = next
      const response = await request(run.url, key, 'POST', '/api/notes/items/notes?fields=id', [{ id }])
      await response.arrayBuffer()
      acknowledged.push(id)
      if (acknowledged.length === 100) haveHundred()
    }
  }
  // Each client ends with the connection that is cut.
  const clients = Promise.allSettled([write(), write(), write(), write()])
  // Where all have failed before, the test fails for too few.
  await Promise.race([hundred, clients])
  await run.kill()
  await clients
  return acknowledged
}

async function request(url: string, key: string, method: string, path: string, body?: object): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) }
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
  return response
}
