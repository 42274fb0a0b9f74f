/**
 * docs/contract.md#data-source-activity: what becomes of data sources when the instance is started with other releases
 * of their extensions, and when these are put back.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

export type Instance = { readonly url: string; readonly close: () => Promise<void> }

type Release = {
  /** Added to the source of the module. */
  readonly code?: string
  /** What preflight returns, as source text. */
  readonly preflight?: string
  readonly permissions?: readonly object[]
  readonly operators?: readonly string[]
}

const host = { permission: 'net:a.example.com', reason: 'why' }
const other = { permission: 'net:b.example.com', reason: 'the new one' }

type Row = {
  readonly id: string
  readonly before?: Release
  /** Undefined where the extension is uninstalled. */
  readonly after: Release | undefined
  readonly status: number
  readonly first: object
  readonly later: object
}

const deactivated = { message: 'Data source is deactivated' }
const mismatch = (permissions: readonly object[]) => ({
  message: 'Invalid extension permissions',
  code: '7001',
  meta: { permissions },
})
const breach = (message: string) => ({
  message: 'The extension could not be started',
  source: { message: 'Invalid extension response', source: { message } },
})
const always = (status: number, body: object) => ({ status, first: body, later: body })

const rows: readonly Row[] = [
  { id: 'unchanged', after: {}, status: 200, first: { data: [{ name: 'one' }] }, later: { data: [{ name: 'one' }] } },
  { id: 'more_hosts', after: { permissions: [host] }, ...always(422, mismatch([host])) },
  { id: 'fewer_hosts', before: { permissions: [host] }, after: {}, ...always(422, mismatch([])) },
  {
    id: 'preflight_hosts',
    before: { permissions: [host] },
    after: { permissions: [host], preflight: `{ permissions: [${JSON.stringify(other)}] }` },
    ...always(422, mismatch([host, other])),
  },
  { id: 'unloadable', after: { code: `throw new Error('at module scope')` }, ...always(503, deactivated) },
  { id: 'uninstalled', after: undefined, ...always(503, deactivated) },
  {
    id: 'bad_target',
    after: { preflight: `{ permissions: [{ permission: 'net:http://a.example.com', reason: 'why' }] }` },
    ...always(503, deactivated),
  },
  {
    id: 'blank_reason',
    after: { preflight: `{ permissions: [{ permission: 'net:a.example.com', reason: ' ' }] }` },
    ...always(503, deactivated),
  },
  {
    id: 'undefined_preflight',
    after: { preflight: 'undefined' },
    status: 503,
    first: breach('preflight returned no value'),
    later: deactivated,
  },
  {
    id: 'async_preflight',
    after: { preflight: 'Promise.resolve({ permissions: [] })' },
    status: 503,
    first: breach('preflight must answer synchronously'),
    later: deactivated,
  },
  { id: 'capabilities', after: { operators: ['eq', 'neq'] }, ...always(503, deactivated) },
]

/** `start` serves the extensions of a folder, each time over the same database. */
export function describeReload(start: (extensions: string) => Promise<Instance>): void {
  let folder: string
  let instance: Instance
  let token: string
  const sources = new Map<string, string>()

  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(instance.url + path, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
        'Cache-Control': 'no-cache',
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const must = async (method: string, path: string, body?: object) => {
    const answer = await send(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${JSON.stringify(answer)}`)
    return answer.body
  }
  const read = (id: string, query = '') => send('GET', `/api/reload/items/${apiName(id)}?fields=name${query}`)

  async function replace(which: 'before' | 'after'): Promise<void> {
    await instance.close()
    await install(folder, which)
    instance = await start(folder)
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'extensions-'))
    await install(folder, 'before')
    instance = await start(folder)
    token = ''
    const credentials = { email: 'admin@example.com', password: 'a password of some length' }
    const login = await must('POST', '/api/auth/login', { credentials, mode: 'json' })
    token = login.accessToken
    await must('POST', '/api/system/workspaces', { apiName: 'reload' })
    for (const { id, before } of rows) {
      const wish = { apiName: id, provider: id, permissions: before?.permissions ?? [] }
      const { data } = await must('POST', '/api/reload/sources/data', wish)
      await must('POST', `/api/reload/schema/introspect/${data.id}`)
      sources.set(id, data.id)
    }
  })

  afterAll(async () => {
    await instance.close()
    await rm(folder, { recursive: true, force: true })
  })

  describe('a data source whose extension is replaced', () => {
    beforeAll(() => replace('after'))

    it.each(rows)('$id', async ({ id, status, first, later }) => {
      const answers = [await read(id), await read(id), await read(id, '&limit=5')]

      expect(answers.map(({ body }) => body)).toEqual([first, later, later])
      expect(answers.slice(1).map((answer) => answer.status)).toEqual([status, status])
    })

    it('can be imported again where only its capabilities are others', async () => {
      await must('POST', `/api/reload/schema/introspect/${sources.get('capabilities')}`)

      expect(await read('capabilities', '&filter[name][_neq]=two')).toEqual({
        status: 200,
        body: { data: [{ name: 'one' }] },
      })
    })

    it('can be created anew with the new set', async () => {
      await must('DELETE', `/api/reload/sources/data/${sources.get('more_hosts')}`)
      const wish = { apiName: 'recreated', provider: 'more_hosts', permissions: [host] }
      const { data } = await must('POST', '/api/reload/sources/data', wish)
      await must('POST', `/api/reload/schema/introspect/${data.id}`)

      expect((await read('more_hosts')).status).toBe(200)
    })

    it('serves again when the extension is put back', async () => {
      await replace('before')
      const untouched = rows.filter(({ id }) => id !== 'more_hosts' && id !== 'capabilities')

      const answers: (readonly [string, number])[] = []
      for (const { id } of untouched) answers.push([id, (await read(id)).status])

      expect(answers).toEqual(untouched.map(({ id }) => [id, 200]))
    })
  })
}

/** The collection of an extension; as the workspace's naming convention spells it. */
function apiName(id: string): string {
  return `things${id.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`
}

async function install(folder: string, which: 'before' | 'after'): Promise<void> {
  for (const { id, before = {}, after } of rows) {
    const release = which === 'before' ? before : after
    const at = join(folder, id)
    if (release === undefined) {
      await rm(at, { recursive: true })
      continue
    }
    await mkdir(at, { recursive: true })
    await writeFile(join(at, 'index.js'), moduleText(id, release))
    const entry = { id, type: 'data-connector', name: id, entry: './index.js' }
    const extensions = [{ ...entry, engine: { permissions: release.permissions ?? [] } }]
    await writeFile(join(at, 'package.json'), JSON.stringify({ name: id, type: 'module', service: { extensions } }))
  }
}

function moduleText(id: string, { code = '', preflight = '{ permissions: [] }', operators = ['eq'] }: Release): string {
  const fields = ['id', 'name'].map((name) => ({ name, type: { name: 'string' }, isNullable: false, isList: false }))
  const collection = {
    name: `things_${id}`,
    fields,
    key: ['id'],
    operations: ['readMany'],
    filter: { name: operators },
  }
  const schema = JSON.stringify({ collections: [collection] })
  return `${code}
export function preflight() { return ${preflight} }
export function setup() {
  return {
    introspect: () => ({ schema: ${schema} }),
    query: () => ({ records: [{ id: '1', name: 'one' }] }),
  }
}
`
}
