/** Resources shared by several figures: opened on first use, always closed in reverse order. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { unlimited } from '../../test/support/service/license.ts'
import { startLicensingServer } from '../licensing/server.ts'
import type { BareStart } from './bare-node.ts'
import { type Bundle, bundleBare, bundleOurs } from './bundle.ts'
import { type Case, requestsOf } from './cases.ts'
import { type Child, startChild } from './child.ts'
import type { Side } from './compare.ts'
import { type Data, openData } from './data.ts'
import { type Isolate, type IsolateOptions, prepareIsolate } from './isolate.ts'
import type { OurQuestion } from './our-node.ts'
import { type Tally, tallyRequests } from './tally.ts'

export type Lab = {
  readonly data: () => Promise<Data>
  readonly load: () => Promise<Child>
  readonly bundle: () => Promise<Bundle>
  /** Both sides on Node, each in its own process. */
  readonly node: () => Promise<Pair>
  /** Both sides on workerd, each in its own process, over one gateway. */
  readonly workerd: () => Promise<Pair & { readonly tally: Tally; readonly pid: number | undefined }>
  /** The service on workerd with an online license key. */
  readonly licensed: () => Promise<Licensed>
  /** The service alone, freshly started, with variables beside those of the data. */
  readonly ourNode: (variables?: Readonly<Record<string, string>>) => Promise<OurNode>
  /** A module of this folder in a process of its own, closed with the lab. */
  readonly child: (file: string) => Child
  readonly close: () => Promise<void>
}

export type OurNode = { readonly child: Child; readonly port: number }

export type Licensed = {
  readonly port: number
  /** Requests to the system database. */
  readonly database: Tally
  /** Requests to the licensing service. */
  readonly licensing: Tally
}

/** The service and the bare handler, which answer the same requests with the same text. */
export type Pair = {
  readonly ours: number
  readonly bare: number
  readonly sides: (subject: Case) => Promise<readonly [Side, Side]>
}

export function openLab(progress: (text: string) => void): Lab {
  const endings: (() => Promise<void>)[] = []

  function shared<T>(title: string, open: () => Promise<T>): () => Promise<T> {
    let opened: Promise<T> | undefined
    return () => {
      if (opened === undefined) {
        progress(title)
        opened = open()
      }
      return opened
    }
  }

  function child(file: string, env?: NodeJS.ProcessEnv, flags?: readonly string[]): Child {
    const started = startChild(file, env, flags)
    endings.push(started.close)
    return started
  }

  async function isolate(options: IsolateOptions): Promise<Isolate> {
    const prepared = await prepareIsolate(options)
    endings.push(prepared.remove)
    const started = await prepared.start()
    endings.push(started.close)
    return started
  }

  const data = shared('starting Postgres and making the data', async () => {
    const opened = await openData()
    endings.push(opened.close)
    return opened
  })

  /** The gateway to the database, with its requests counted. */
  const gateway = shared('starting the gateway', async () => {
    const started = await startNeonGateway((await data()).databaseUrl)
    endings.push(started.close)
    const tally = await tallyRequests('POST /sql', portOf(started.url))
    endings.push(tally.close)
    const address = new URL(started.url)
    address.port = String(tally.port)
    return { url: { SERVICE_DATABASE_URL: address.href }, tally }
  })

  const bundle = shared('bundling the Worker', bundleOurs)

  const ourNode = async (variables: Readonly<Record<string, string>> = {}) => {
    const started = child('./our-node.ts', { ...(await data()).environment, ...variables }, nodeFlags)
    return { child: started, port: portOf(await started.ask<string>({ kind: 'start' } satisfies OurQuestion)) }
  }

  return {
    data,
    bundle,
    ourNode,
    child,
    load: shared('starting the load generator', async () => child('./load.ts')),

    node: shared('starting the servers', async () => {
      const { databaseUrl, statements, token } = await data()
      const ours = await ourNode()
      const start: BareStart = { databaseUrl, statements }
      const bare = portOf(await child('./bare-node.ts').ask<string>(start))
      return pair({ ours: ours.port, bare, token })
    }),

    workerd: shared('starting the Workers', async () => {
      const { environment, statements, token } = await data()
      const { url, tally } = await gateway()
      const ours = await isolate({ bundle: await bundle(), variables: { ...environment, ...url }, objects })
      const bare = await isolate({
        bundle: await bundleBare('./bare-worker.ts'),
        variables: { DATABASE_URL: url.SERVICE_DATABASE_URL },
        json: { STATEMENTS: statements },
      })
      return { ...pair({ ours: ours.port, bare: bare.port, token }), tally, pid: ours.pid }
    }),

    licensed: shared('starting a Worker under a license by key', async () => {
      const { SERVICE_LICENSE__TOKEN: _offline, ...environment } = (await data()).environment
      const { url, tally: database } = await gateway()
      const directory = await mkdtemp(join(tmpdir(), 'bench-licensing-'))
      endings.push(() => rm(directory, { recursive: true }))
      const service = await startLicensingServer({ directory })
      endings.push(service.close)
      const licensing = await tallyRequests('POST /', portOf(service.url))
      endings.push(licensing.close)
      const { key } = service.registry.issue({ entitlements: unlimited().entitlements })
      const license = {
        SERVICE_LICENSE__KEY: key,
        SERVICE_LICENSE__URL: `http://127.0.0.1:${licensing.port}`,
        SERVICE_LICENSE__PUBLIC_KEY: service.publicKey,
      }
      const variables = { ...environment, ...url, ...license }
      const { port } = await isolate({ bundle: await bundle(), variables, objects })
      return { port, database, licensing }
    }),

    async close() {
      for (const end of endings.reverse()) await end()
    },
  }
}

/** Those of `npm run start:node`. */
const nodeFlags = manifest.scripts['start:node'].split(' ').filter((part) => part.startsWith('--'))

const objects = { WORKSPACES: 'WorkspaceObject', LICENSE: 'LicenseObject' }

type PairOptions = {
  readonly ours: number
  readonly bare: number
  readonly token: string
}

function pair({ ours, bare, token }: PairOptions): Pair {
  return {
    ours,
    bare,
    async sides(subject) {
      const ourSide = { port: ours, requests: requestsOf(subject, `/api/bench${subject.path}`, token) }
      const bareSide = { port: bare, requests: requestsOf(subject, `/${subject.name}/{key}`) }
      await requireSameAnswer(subject, ourSide, bareSide, token)
      return [ourSide, bareSide]
    },
  }
}

/** Checks that both sides return the same text, except for ids of new items. */
async function requireSameAnswer(subject: Case, ours: Side, bare: Side, token: string): Promise<void> {
  const ask = async (port: number, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path.replace('{key}', '1')}`, {
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(subject.item !== undefined && { method: 'POST', body: JSON.stringify([subject.item]) }),
    })
    return `${response.status} ${(await response.text()).replace(/"id":"\d+"/, '"id":"*"')}`
  }
  const [answer, expected] = [
    await ask(ours.port, `/api/bench${subject.path}`),
    await ask(bare.port, `/${subject.name}/{key}`),
  ]
  if (answer !== expected || !answer.startsWith('200 {"data":')) {
    throw new Error(
      `${subject.name}: we answer\n${answer.slice(0, 1_000)}\nand the bare handler\n${expected.slice(0, 1_000)}`,
    )
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
