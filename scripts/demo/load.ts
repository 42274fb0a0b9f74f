/**
 * Creates the workspace `demo` through the API, like any client. An interrupted load starts again: a marker in the data
 * directory remains until the last item is stored.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { demoItems } from './data.ts'
import { demoOperations } from './model.ts'

export type Api = (method: string, path: string, body?: unknown) => Promise<unknown>

const ITEMS_PER_REQUEST = 500

export async function loadDemo(api: Api, dataDirectory: string, progress: (text: string) => void): Promise<void> {
  const marker = join(dataDirectory, 'demo-is-loading')
  const { data: workspaces } = (await api('GET', '/api/system/workspaces?limit=0')) as {
    data: { id: string; apiName: string }[]
  }
  const existing = workspaces.find(({ apiName }) => apiName === 'demo')
  if (existing !== undefined && !existsSync(marker)) return
  writeFileSync(marker, '')
  if (existing !== undefined) await api('DELETE', `/api/system/workspaces/${existing.id}`)
  await api('POST', '/api/system/workspaces', { apiName: 'demo', displayName: 'Demo' })
  const { data: sources } = (await api('GET', '/api/demo/items/ServiceDataSource?fields=id')) as {
    data: { id: string }[]
  }
  await api('POST', '/api/demo/schema/migrate', { operations: demoOperations(sources[0]?.id ?? '') })
  for (const [collection, items] of Object.entries(demoItems())) {
    for (let start = 0; start < items.length; start += ITEMS_PER_REQUEST) {
      const part = items.slice(start, start + ITEMS_PER_REQUEST)
      await api('POST', `/api/demo/items/${collection}?fields=${Object.keys(part[0] ?? {})[0]}`, part)
      progress(`demo: ${collection} ${start + part.length} of ${items.length}`)
    }
  }
  rmSync(marker)
}
