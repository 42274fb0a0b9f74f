/** Every figure of the benchmarks: its name, its bound and how it is measured. */
import { setTimeout as wait } from 'node:timers/promises'
import { nodeTagOf } from '../../src/platform/node/tags.ts'
import { tokenIn } from '../../test/support/service/mailed-token.ts'
import { measureBatch } from './batch.ts'
import { gzipSize, readCompatibility } from './bundle.ts'
import { type Case, findCase, requestsOf } from './cases.ts'
import { type Comparison, compare, median } from './compare.ts'
import { type CallCost, measureDenoCalls, measureLoaderCalls } from './connectors.ts'
import type { Data } from './data.ts'
import { measureFiles } from './files/figure.ts'
import { measureGolden } from './golden/figure.ts'
import { measureGoldenOnMariadb } from './golden/mariadb.ts'
import { measureHostile } from './hostile.ts'
import { type Isolate, type Prepared, prepareIsolate } from './isolate.ts'
import { measureKeyset } from './keyset.ts'
import type { Lab, Pair } from './lab.ts'
import { measureLicense } from './license.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { measureManyModels } from './many-models.ts'
import { addDocuments, makeWorkspaceOf } from './model.ts'
import { measureModelLoad } from './model-load.ts'
import { measureOpenApi } from './openapi.ts'
import type { Memory, OurQuestion } from './our-node.ts'

export type Measured = {
  readonly what: string
  readonly bound: Bound
  readonly value: number
  readonly unit: '' | 'KiB' | 'ms' | 'ns' | 'MB'
  /** The values behind the figure. */
  readonly detail: string
}

export type Bound = {
  readonly kind: 'atLeast' | 'atMost'
  readonly value: number
  /** Met whatever the value, where the difference behind a ratio is too small to count. */
  readonly isReached?: true
}

export type Figure = {
  readonly name: string
  readonly measure: (lab: Lab, progress: (text: string) => void) => Promise<readonly Measured[]>
}

export const figures: readonly Figure[] = [
  { name: 'bundle', measure: measureBundle },
  { name: 'start-up', measure: measureStartUp },
  readAgainstBare('point-read'),
  readAgainstBare('list'),
  readAgainstBare('to-one'),
  readAgainstBare('to-many'),
  { name: 'insert', measure: measureInsert },
  { name: 'idempotent-insert', measure: measureIdempotentInsert },
  { name: 'recorded-insert', measure: measureRecordedInsert },
  { name: 'memory', measure: measureMemory },
  { name: 'many-models', measure: measureManyModels },
  { name: 'model-size', measure: measureModelSize },
  { name: 'model-load', measure: measureModelLoad },
  { name: 'policies', measure: measurePolicies },
  { name: 'tag', measure: measureTag },
  { name: 'authenticated', measure: measureAuthenticated },
  { name: 'openapi', measure: (_lab, progress) => measureOpenApi(progress) },
  { name: 'subrequests', measure: measureSubrequests },
  { name: 'license', measure: measureLicense },
  { name: 'connectors', measure: measureConnectors },
  { name: 'hostile', measure: measureHostile },
  { name: 'golden', measure: (_lab, progress) => measureGolden(progress) },
  { name: 'golden-mariadb', measure: (_lab, progress) => measureGoldenOnMariadb(progress) },
  { name: 'keyset', measure: (_lab, progress) => measureKeyset(progress) },
  { name: 'batch', measure: measureBatch },
  { name: 'files', measure: measureFiles },
  readOnWorkerd('point-read'),
  readOnWorkerd('list'),
]

async function measureBundle(lab: Lab): Promise<readonly Measured[]> {
  const { start, main, httpParts, tcpParts } = gzipSize(await lab.bundle())
  const detail = 'minified, each module by gzip'
  const atMostKib = (bound: number, what: string, bytes: number): Measured => ({
    what,
    bound: atMost(bound),
    value: bytes / 1024,
    unit: 'KiB',
    detail,
  })
  return [
    atMostKib(250, 'what a Worker starts with', start),
    atMostKib(270, 'Worker bundle', main),
    atMostKib(300, 'Worker bundle without drivers over TCP', main + httpParts),
    atMostKib(100, 'parts of the Worker that load apart', httpParts + tcpParts),
    atMostKib(370, 'Worker bundle with its parts', main + httpParts + tcpParts),
  ]
}

/** Enough starts for a machine whose speed changes from second to second. */
const STARTS = 40

/** Measures process start to first response. The Worker gets no database, so that only its own code counts. */
async function measureStartUp(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const bundle = await lab.bundle()
  const text = 'export default { fetch() { return new Response("{}") } }'
  const empty = { modules: [{ name: 'empty.js', text }], compatibility: await readCompatibility() }
  const ours = await prepareIsolate({ bundle, objects: { WORKSPACES: 'WorkspaceObject', LICENSE: 'LicenseObject' } })
  const nothing = await prepareIsolate({ bundle: empty })
  const rounds: [number, number][] = []
  try {
    await timeStart(ours)
    await timeStart(nothing)
    for (let round = 0; round < STARTS; round += 1) {
      progress(`start ${round + 1} of ${STARTS}`)
      rounds.push([await timeStart(ours), await timeStart(nothing)])
    }
  } finally {
    await ours.remove()
    await nothing.remove()
  }
  // Other load on the machine only adds time, so the fastest start of each side counts.
  const own = Math.min(...rounds.map(([time]) => time))
  const other = Math.min(...rounds.map(([, time]) => time))
  const detail = `${own.toFixed(0)} ms, an empty Worker ${other.toFixed(0)} ms`
  return [{ what: 'Worker start-up over an empty one', bound: atMost(50), value: own - other, unit: 'ms', detail }]
}

async function timeStart(prepared: Prepared): Promise<number> {
  const start = performance.now()
  const isolate: Isolate = await prepared.start()
  try {
    const response = await fetch(`http://127.0.0.1:${isolate.port}/api/system/live`)
    if (response.status !== 200) throw new Error(`the Worker answered ${response.status}`)
    await response.text()
    return performance.now() - start
  } finally {
    await isolate.close()
  }
}

/** Excludes the connector's own work. */
async function measureConnectors(): Promise<readonly Measured[]> {
  const node = await measureDenoCalls()
  const workerd = await measureLoaderCalls()
  const costText = ({ median, worst }: CallCost) => `median ${median.toFixed(3)} ms, worst ${worst.toFixed(1)} ms`
  const memory = node.megabytes
  return [
    { what: 'connector: warm call on Node', bound: atMost(1), value: node.median, unit: 'ms', detail: costText(node) },
    {
      what: 'connector: warm call on workerd',
      bound: atMost(1),
      value: workerd.median,
      unit: 'ms',
      detail: costText(workerd),
    },
    {
      what: 'connector: its idle process',
      bound: atMost(60),
      value: memory,
      unit: 'MB',
      detail: 'resident, after 2,500 calls',
    },
  ]
}

function readAgainstBare(name: Case['name']): Figure {
  return {
    name,
    async measure(lab, progress) {
      const comparison = await comparePair(lab, await lab.node(), findCase(name), progress)
      const [own, bare] = comparison.p99
      const detail = `${own.toFixed(1)} ms, bare ${bare.toFixed(1)} ms`
      return [
        throughput(`${name}: throughput over bare`, 0.85, comparison),
        { what: `${name}: p99 over bare`, bound: atMost(1.3), value: comparison.p99Ratio, unit: '', detail },
      ]
    },
  }
}

async function measureInsert(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const comparison = await comparePair(lab, await lab.node(), findCase('insert'), progress)
  return [throughput('insert: throughput over bare', 0.8, comparison)]
}

/** The service against itself: the same insert with a key of its own each time, and without. */
async function measureIdempotentInsert(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const [plain] = await (await lab.node()).sides(findCase('insert'))
  const requests = plain.requests.map((text) => text.replace('\r\n\r\n', '\r\nIdempotency-Key: {unique}\r\n\r\n'))
  const comparison = await compare(await lab.load(), [{ ...plain, requests }, plain], progress)
  return [throughput('insert under an Idempotency-Key: throughput over plain', 0.4, comparison)]
}

/** Of a collection with a history. */
async function measureRecordedInsert(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const [plain] = await (await lab.node()).sides(findCase('insert'))
  const requests = plain.requests.map((text) => text.replace('/items/entries', '/items/recorded'))
  const comparison = await compare(await lab.load(), [{ ...plain, requests }, plain], progress)
  return [throughput('insert that is recorded: throughput over plain', 0.7, comparison)]
}

function readOnWorkerd(name: Case['name']): Figure {
  return {
    name: `workerd-${name}`,
    async measure(lab, progress) {
      const comparison = await comparePair(lab, await lab.workerd(), findCase(name), progress)
      return [throughput(`workerd ${name}: throughput over bare`, 0.85, comparison)]
    },
  }
}

async function comparePair(lab: Lab, pair: Pair, subject: Case, progress: (text: string) => void) {
  return compare(await lab.load(), await pair.sides(subject), progress)
}

function throughput(what: string, bound: number, { throughputRatio: value, perSecond }: Comparison): Measured {
  const detail = `${whole(perSecond[0])}/s, bare ${whole(perSecond[1])}/s`
  return { what, bound: atLeast(bound), value, unit: '', detail }
}

/** Sequential reads, so that database requests can be attributed; the median read is warm. */
async function measureSubrequests(lab: Lab): Promise<readonly Measured[]> {
  const { ours, tally } = await lab.workerd()
  const { token } = await lab.data()
  const requests: number[] = []
  for (const name of ['point-read', 'list', 'to-one', 'to-many'] as const) {
    const path = `/api/bench${findCase(name).path.replace('{key}', '1')}`
    for (let read = 0; read < 50; read += 1) {
      const before = tally.count()
      const response = await fetch(`http://127.0.0.1:${ours}${path}`, { headers: { Authorization: `Bearer ${token}` } })
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
      await response.text()
      requests.push(tally.count() - before)
    }
  }
  const all = requests.reduce((sum, count) => sum + count, 0)
  const detail = `${all} for ${requests.length} reads, versions and first reads included`
  return [
    {
      what: 'workerd: requests to the database per warm read',
      bound: atMost(1),
      value: median(requests),
      unit: '',
      detail,
    },
  ]
}

async function measureMemory(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const { api, token } = await lab.data()
  progress('adding 10,000 items of 1 KB')
  await addDocuments(api)
  const { child, port } = await lab.ourNode()
  const load = await lab.load()
  const ask = (path: string, order: Pick<LoadOrder, 'connections' | 'perConnection'>) => {
    const requests = requestsOf({ keys: 1 }, `/api/bench/items/${path}`, token)
    return load.ask<LoadResult>({ port, requests, seconds: 60, ...order } satisfies LoadOrder)
  }
  await ask('documents?limit=1', { connections: 32, perConnection: 50 })
  await wait(1_000)
  const idle = await child.ask<Memory>({ kind: 'memory' } satisfies OurQuestion)
  progress('listing 10,000 items 32 times at once')
  await ask('documents?limit=10000', { connections: 32, perConnection: 1 })
  const busy = await child.ask<Memory>({ kind: 'memory' } satisfies OurQuestion)
  const value = (busy.peak - idle.resident) / 1e6
  const detail = `${whole(idle.resident / 1e6)} MB idle, at most ${whole(busy.peak / 1e6)} MB`
  await child.close()
  return [{ what: '32 lists of 10,000 × 1 KB: memory above idle', bound: atMost(128), value, unit: 'MB', detail }]
}

async function measureModelSize(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const { api, token } = await lab.data()
  progress('making 1,000 collections')
  await makeWorkspaceOf(api, 'one', 1)
  await makeWorkspaceOf(api, 'thousand', 1_000)
  const { port, child } = await lab.ourNode()
  const side = (workspace: string) => ({
    port,
    requests: requestsOf({ keys: 900 }, `/api/${workspace}${findCase('list').path}`, token),
  })
  const { throughputRatio: value, perSecond } = await compare(
    await lab.load(),
    [side('one'), side('thousand')],
    progress,
  )
  await child.close()
  const detail = `${whole(perSecond[0])}/s with 1, ${whole(perSecond[1])}/s with 1,000`
  return [{ what: 'list: cost of 1,000 collections over 1', bound: atMost(1.1), value, unit: '', detail }]
}

/** Compares the same list for two members: one with one policy, one with fifty that each allow other rows. */
async function measurePolicies(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const data = await lab.data()
  progress('making members under 1 and 50 policies')
  const collection = findCase('list').path.split('/')[2]?.split('?')[0] ?? ''
  const tokens = [await memberUnder(data, collection, 1), await memberUnder(data, collection, 50)]
  const { port, child } = await lab.ourNode()
  const subject = findCase('list')
  const sides = tokens.map((token) => ({ port, requests: requestsOf(subject, `/api/bench${subject.path}`, token) }))
  const [one = { port, requests: [] }, fifty = one] = sides
  const { throughputRatio: value, perSecond } = await compare(await lab.load(), [one, fifty], progress)
  await child.close()
  const detail = `${whole(perSecond[0])}/s under 1, ${whole(perSecond[1])}/s under 50`
  return [{ what: 'list: cost of 50 policies over 1', bound: atMost(1.5), value, unit: '', detail }]
}

const TAGGED = 20_000

/** What a point read would cost without its tag over what it costs, by CPU time: other work on the machine changes both. */
async function measureTag(lab: Lab): Promise<readonly Measured[]> {
  const { token } = await lab.data()
  const { port, child } = await lab.ourNode()
  const subject = findCase('point-read')
  const order = { port, requests: requestsOf(subject, `/api/bench${subject.path}`, token), connections: 8, seconds: 2 }
  const load = await lab.load()
  const cpu = () => child.ask<number>({ kind: 'cpu' } satisfies OurQuestion)
  await load.ask<LoadResult>(order satisfies LoadOrder)
  const before = await cpu()
  const { perSecond } = await load.ask<LoadResult>(order satisfies LoadOrder)
  const perRead = ((await cpu()) - before) / (perSecond * order.seconds)
  const path = `http://127.0.0.1:${port}/api/bench${subject.path.replace('{key}', '1')}`
  const text = await (await fetch(path, { headers: { Authorization: `Bearer ${token}` } })).text()
  await child.close()
  const start = performance.now()
  for (let index = 0; index < TAGGED; index += 1) void nodeTagOf(text)
  const perTag = ((performance.now() - start) * 1_000) / TAGGED
  const detail = `${perTag.toFixed(2)} µs of ${perRead.toFixed(1)} µs`
  const value = 1 - perTag / perRead
  return [{ what: 'point-read: its CPU time without a tag', bound: atLeast(0.97), value, unit: '', detail }]
}

/** Compares the same read under the same policy by API key, by access token and without a credential. */
async function measureAuthenticated(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const data = await lab.data()
  progress('making callers under one policy')
  const tokens = await callersUnderOnePolicy(data)
  const { port, child } = await lab.ourNode()
  const subject = findCase('point-read')
  const side = (token?: string) => ({ port, requests: requestsOf(subject, `/api/bench${subject.path}`, token) })
  const measured: Measured[] = []
  for (const [name, token] of Object.entries(tokens)) {
    const { throughputRatio: value, perSecond } = await compare(await lab.load(), [side(token), side()], progress)
    const detail = `${whole(perSecond[0])}/s by ${name}, ${whole(perSecond[1])}/s without a credential`
    measured.push({ what: `point-read: ${name} over anonymous`, bound: atLeast(0.85), value, unit: '', detail })
  }
  await child.close()
  return measured
}

/** Creates a member and a service account with the same single policy as the role Public. */
async function callersUnderOnePolicy(data: Data): Promise<Readonly<Record<'API key' | 'access token', string>>> {
  const { api } = data
  const made = async <T>(method: string, path: string, body?: unknown) =>
    ((await api(method, path, body)) as { data: T }).data
  const content = { collections: { articles: { read: 'all' } } }
  const policies = [(await made<{ id: string }>('POST', '/api/bench/policies', { name: 'open', content })).id]
  const [open] = await made<{ id: string }[]>('GET', '/api/bench/roles?filter[kind][_eq]=public')
  await api('PATCH', `/api/bench/roles/${open?.id}`, { policies })
  const { id: roleId } = await made<{ id: string }>('POST', '/api/bench/roles', { name: 'open', policies })
  const robot = { name: 'robot', roles: [{ workspace: 'bench', roleId }] }
  const { id: userId } = await made<{ id: string }>('POST', '/api/system/service-accounts', robot)
  const { key } = await made<{ key: string }>('POST', '/api/system/api-keys', { name: 'robot', userId })
  return { 'API key': key, 'access token': await memberOf(data, roleId, 'open@example.com') }
}

/** Returns the access token of a new member whose role has `count` policies on `collection`. */
async function memberUnder(data: Data, collection: string, count: number): Promise<string> {
  const { api } = data
  const made = async (path: string, body: unknown) =>
    ((await api('POST', path, body)) as { data: { id: string } }).data.id
  const policies: string[] = []
  for (let index = 0; index < count; index += 1) {
    const content = {
      collections: {
        [collection]: { read: { filter: { status: { _eq: index === 0 ? 'published' : `of policy ${index}` } } } },
      },
    }
    policies.push(await made('/api/bench/policies', { name: `${count} ${index}`, content }))
  }
  const role = await made('/api/bench/roles', { name: `of ${count}`, policies })
  return memberOf(data, role, `member${count}@example.com`)
}

/** Returns the access token of a new member with that role. */
async function memberOf({ api, mailTo }: Data, role: string, email: string): Promise<string> {
  const password = 'a password of some length'
  const invited = { email, workspace_roles: [role] }
  await api('POST', '/api/bench/invitations', invited)
  await api('POST', '/api/auth/invitations/accept', { token: tokenIn(mailTo(email)), password })
  const login = { credentials: { email, password }, mode: 'json' }
  return ((await api('POST', '/api/auth/login', login)) as { accessToken: string }).accessToken
}

function atMost(value: number): Bound {
  return { kind: 'atMost', value }
}

function atLeast(value: number): Bound {
  return { kind: 'atLeast', value }
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}
