/** A library behind services that are killed in the middle of a write, whose messages to the database a proxy cuts. */
import { expect } from 'vitest'
import { signIn, type Workspace } from '../migration/support/client.ts'
import {
  compileReplica,
  type Instance,
  openInstance,
  type Replica,
  startReplica,
} from '../migration/support/instance.ts'
import { operationsOf } from '../support/data/model-sketch.ts'
import { type CuttingProxy, startCuttingProxy } from '../support/servers/cutting-proxy.ts'
import { client } from '../support/service/client.ts'

export type KilledService = {
  readonly instance: Instance
  /** Before the database of those that are killed. */
  readonly proxy: CuttingProxy
  /** One that is not. */
  readonly steady: Replica
  readonly workspace: Workspace
  /** Signs the administrator in at a service. */
  tokenAt(replica: Replica): Promise<string>
  close(): Promise<void>
}

/** `recorded`: the collections that have a history. */
export async function openKilledService(recorded: readonly string[] = []): Promise<KilledService> {
  await compileReplica()
  const closing: (() => Promise<void>)[] = []
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end()
  }
  try {
    const instance = await openInstance()
    closing.push(instance.close)
    const proxy = await startCuttingProxy(instance.databaseUrl)
    closing.push(proxy.close)
    const steady = await startReplica(instance)
    closing.push(steady.kill)
    const administrator = await signIn(instance.administrator, steady.url)
    const workspace = await administrator.workspace('killed')
    const operations = operationsOf({ ...library, recorded }, workspace.sourceId)
    const made = await administrator.send('POST', `/api/${workspace.apiName}/schema/migrate`, { operations })
    expect(made.status).toBe(200)
    const tokenAt = async ({ url }: Replica) => {
      const credentials = instance.administrator
      const response = await client(url, {}).post('/api/auth/login', { credentials, mode: 'json' })
      return ((await response.json()) as { accessToken: string }).accessToken
    }
    return { instance, proxy, steady, workspace, tokenAt, close }
  } catch (error) {
    await close()
    throw error
  }
}

const library = {
  collections: {
    authors: { id: 'int64 = counted', name: 'string' },
    articles: { id: 'int64 = counted', title: 'string', authorId: 'int64?' },
  },
  keys: {},
  relations: ['articles.author(authorId) -> authors.articles'],
}
