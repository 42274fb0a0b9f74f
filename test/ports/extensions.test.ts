/** Extensions from their folder to a running connector: manifests, bundling, reload, and what is told of broken ones. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadExtensions, type OpenCatalog, openNodeCatalog } from '../../src/platform/node/connectors/extensions.ts'
import { createNodeConnectorHost } from '../../src/platform/node/connectors/host.ts'
import type { Observation } from '../../src/ports/observe.ts'

let parent: string
let folder: string
let catalog: OpenCatalog | undefined

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'installed-'))
  folder = join(parent, 'extensions')
  await mkdir(folder)
})

afterEach(async () => {
  catalog?.close()
  catalog = undefined
  await rm(parent, { recursive: true })
})

describe('extensions: what is installed', () => {
  it('lists connectors by id, with their permissions in normal form and one module of code each', async () => {
    await install('two', manifest({ id: 'second' }), plain)
    await install(
      'one',
      manifest({ id: 'first', engine: { permissions: [{ permission: 'net:EXAMPLE.com', reason: 'x' }] } }),
      plain,
    )

    const { installed, broken } = await loadExtensions(folder)

    expect(broken).toEqual([])
    expect(installed).toMatchObject([
      { id: 'first', name: 'Orders', permissions: [{ permission: 'net:example.com', reason: 'x' }] },
      { id: 'second', permissions: [] },
    ])
    expect(installed[0]?.code).toMatch(/export \{\s+preflight,\s+setup\s+\};\s+$/)
  })

  it('takes several entries from one manifest', async () => {
    const { service } = manifest({ id: 'a' })
    await install(
      'both',
      { service: { extensions: [...service.extensions, ...manifest({ id: 'b' }).service.extensions] } },
      plain,
    )

    const { installed } = await loadExtensions(folder)

    expect(installed.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('gives another revision when code, name or permissions change, and none otherwise', async () => {
    await install('one', manifest({}), plain)
    const [before] = (await loadExtensions(folder)).installed
    const [again] = (await loadExtensions(folder)).installed
    await install('one', manifest({ name: 'Renamed' }), plain)
    const [after] = (await loadExtensions(folder)).installed

    expect(again?.revision).toBe(before?.revision)
    expect(after?.revision).not.toBe(before?.revision)
  })

  it('finds none where there is no folder', async () => {
    expect(await loadExtensions(join(parent, 'elsewhere'))).toEqual({ installed: [], broken: [] })
  })

  it('runs TypeScript that imports files, modules of Node and the kit', async () => {
    await install('one', manifest({ entry: './main.ts' }), '')
    await put(
      'one/main.ts',
      `import { createHash } from 'crypto'
      import { join } from 'node:path'
      import { RateLimited } from 'governed-data-service/connector-kit'
      import { greet } from './greet.ts'
      export const preflight = (config: unknown) => createHash('sha256').update(join(greet, 'x')).digest('hex').length
      export async function setup() { throw new RateLimited('slow down') }`,
    )
    await put('one/greet.ts', `export const greet: string = await Promise.resolve('hello')`)

    const replies = await run('preflight', 'setup')

    expect(replies).toEqual([
      { kind: 'value', value: 64 },
      { kind: 'error', message: 'slow down', code: 5002, denied: false },
    ])
  })

  it('runs what is written as CommonJS behind the entry', async () => {
    await install(
      'one',
      manifest({}),
      `import { kind } from './old.cjs'; export const preflight = () => kind; export const setup = 1`,
    )
    await put('one/old.cjs', `exports.kind = require('util').inspect({ a: 1 })`)

    expect(await run('preflight')).toEqual([{ kind: 'value', value: '{ a: 1 }' }])
  })
})

describe('extensions: what is broken', () => {
  it.each([
    ['no package.json', undefined, 'extensions/one/package.json', 'is missing'],
    ['no JSON', '{', 'extensions/one/package.json', 'is not JSON: line 1, column 2'],
    ['a package of something else', {}, 'extensions/one/package.json: service', 'is missing'],
    [
      'no entries',
      { service: { extensions: [] } },
      'extensions/one/package.json: service.extensions',
      'must list at least one extension',
    ],
    [
      'a member that nobody knows',
      manifest({ colour: 1 }),
      'extensions/one/package.json: service.extensions[0]',
      'has members that are not known: colour',
    ],
    ['no id', manifest({ id: undefined }), 'extensions/one/package.json: service.extensions[0].id', 'is missing'],
    [
      'a bad id',
      manifest({ id: 'a b' }),
      'extensions/one/package.json: service.extensions[0].id',
      'must be 1 to 100 letters, digits, dots, dashes and underscores',
    ],
    [
      'another type',
      manifest({ type: 'theme' }),
      'extensions/one/package.json: service.extensions[0].type',
      'must be data-connector',
    ],
    [
      'a blank name',
      manifest({ name: ' ' }),
      'extensions/one/package.json: service.extensions[0].name',
      'must not be blank',
    ],
    [
      'an entry above',
      manifest({ entry: '../index.js' }),
      'extensions/one/package.json: service.extensions[0].entry',
      'must be a path beginning with ./ to a JavaScript or TypeScript file',
    ],
    [
      'an entry that climbs out',
      manifest({ entry: './../outside.js' }),
      'extensions/one/./../outside.js',
      'is not a file of this extension',
    ],
    [
      'an entry that is not there',
      manifest({ entry: './main.js' }),
      'extensions/one/./main.js',
      'is not a file of this extension',
    ],
    [
      'a URL as target',
      manifest({ engine: { permissions: [{ permission: 'net:http://a', reason: 'x' }] } }),
      'extensions/one/package.json: service.extensions[0].engine.permissions[0].permission',
      'must not be a URL: a target is a host, without a scheme',
    ],
    [
      'a blank reason',
      manifest({ engine: { permissions: [{ permission: 'net:a', reason: ' ' }] } }),
      'extensions/one/package.json: service.extensions[0].engine.permissions[0].reason',
      'must say why the connection is needed',
    ],
  ])('tells the place and the reason: %s', async (_, content, place, reason) => {
    await put('outside.js', plain)
    await put('one/index.js', plain)
    if (content !== undefined)
      await put('one/package.json', typeof content === 'string' ? content : JSON.stringify(content))

    const { installed, broken } = await loadExtensions(folder)

    expect(installed).toEqual([])
    expect(broken).toContainEqual({ location: place.replace('/./', '/'), reason })
  })

  it.each([
    ['a syntax error', 'export const = 1', 'extensions/one/index.js:1:14', /^Expected identifier/],
    [
      'a file that is not there',
      `import './gone.js'; export const setup = 1`,
      'extensions/one/index.js:1:8',
      /^Could not resolve/,
    ],
    [
      'a package that is not there',
      `import 'gone'; export const setup = 1`,
      'extensions/one/index.js:1:8',
      /^Could not resolve/,
    ],
    [
      'a module of another runtime',
      `import 'cloudflare:sockets'; export const setup = 1`,
      'extensions/one/index.js:1:8',
      /cannot be imported/,
    ],
    [
      'remote code',
      `import 'https://example.com/x.js'; export const setup = 1`,
      'extensions/one/index.js:1:8',
      /cannot be imported/,
    ],
    ['no exports', 'const setup = 1', 'extensions/one/index.js', /exports nothing/],
  ])('tells where the code is broken: %s', async (_, code, place, reason) => {
    await install('one', manifest({}), code)

    const { broken } = await loadExtensions(folder)

    expect(broken).toEqual([{ location: place, reason: expect.stringMatching(reason) }])
  })

  it('takes the first of two with the same id, and keeps all others', async () => {
    await install('a', manifest({ id: 'same', name: 'First' }), plain)
    await install('b', manifest({ id: 'same', name: 'Second' }), plain)
    await put('c/package.json', '{')

    const { installed, broken } = await loadExtensions(folder)

    expect(installed.map(({ name }) => name)).toEqual(['First'])
    expect(broken).toEqual([
      { location: 'extensions/b/package.json', reason: 'the id same is taken by another extension' },
      { location: 'extensions/c/package.json', reason: 'is not JSON: line 1, column 2' },
    ])
  })
})

describe('extensions: the catalog of a Node process', () => {
  it('warns of what is broken, and opens all the same', async () => {
    await put('one/package.json', '{')
    const observed: Observation[] = []

    catalog = await openNodeCatalog({ path: folder, autoReload: false, observe: (one) => observed.push(one) })

    expect(catalog.broken()).toHaveLength(1)
    expect(observed).toEqual([
      { kind: 'warning', message: 'extension extensions/one/package.json is not JSON: line 1, column 2' },
    ])
  })

  it('follows changes where it is asked to', async () => {
    await install('one', manifest({}), plain)
    catalog = await openNodeCatalog({ path: folder, autoReload: true, observe: () => {} })
    const [before] = catalog.installed()

    await put('one/index.js', plain.replace('hello', 'good bye'))
    await until(() => catalog?.installed()[0]?.revision !== before?.revision)
    await install('two', manifest({ id: 'added' }), plain)
    await until(() => catalog?.installed().length === 2)
    await rm(join(folder, 'one'), { recursive: true })
    await until(() => catalog?.installed()[0]?.id === 'added')

    expect(catalog.broken()).toEqual([])
  })
})

const plain = `export const preflight = () => 'hello'; export const setup = () => ({})`

function manifest(change: Readonly<Record<string, unknown>>) {
  const entry = { id: 'orders', type: 'data-connector', name: 'Orders', entry: './index.js', ...change }
  return { name: 'orders', version: '1.0.0', service: { extensions: [entry] } }
}

async function install(name: string, content: object, code: string): Promise<void> {
  await put(`${name}/index.js`, code)
  await put(`${name}/package.json`, JSON.stringify(content))
}

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), content)
}

/** Loads the one extension and calls it in its sandbox. */
async function run(...methods: readonly ('preflight' | 'setup')[]) {
  const { installed, broken } = await loadExtensions(folder)
  const [connector] = installed
  if (connector === undefined) throw new Error(JSON.stringify(broken))
  const limits = { timeLimit: 30_000, busyLimit: 10_000, idleLimit: 60_000, memoryLimit: 64, allowPrivate: true }
  const host = createNodeConnectorHost(limits)
  const session = host.open({ id: 'test', code: connector.code, grant: [], config: null })
  const replies = []
  for (const method of methods) replies.push(await session.call(method))
  await host.close()
  return replies
}

async function until(isSo: () => boolean | undefined): Promise<void> {
  await expect.poll(isSo).toBe(true)
}
