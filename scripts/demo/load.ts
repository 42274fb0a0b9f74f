/**
 * Makes the workspace `demo` of `demo/model.json` and the files of `demo/data`, as `governed schema push` and `governed load`
 * would. An interrupted load starts again: a marker in the data directory remains until the last item is stored.
 */
import './own-packages.ts'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../demo')

export type DemoLoad = {
  readonly url: string
  readonly key: string
  readonly dataDirectory: string
  readonly progress: (text: string) => void
}

export async function loadDemo({ url, key, dataDirectory, progress }: DemoLoad): Promise<void> {
  // Behind the hook that says where the client is.
  const { apiKey } = await import('../../packages/client/src/auth.ts')
  const { schema, system } = await import('../../packages/client/src/system.ts')
  const { connectionOf } = await import('../../packages/cli/src/connection.ts')
  const { loadFolder } = await import('../../packages/cli/src/load-folder.ts')
  const marker = join(dataDirectory, 'demo-is-loading')
  const connection = connectionOf({ url, workspace: 'demo' }, { auth: apiKey(key), flags: '', credential: 'key' })
  const { db, must } = connection
  const { workspaces } = system(db)
  const [existing] = await must(workspaces.list({ filter: { apiName: 'demo' }, fields: ['id'] }))
  if (existing !== undefined && !existsSync(marker)) return
  writeFileSync(marker, '')
  if (existing !== undefined) await must(workspaces.delete(String(existing.id)))
  await must(workspaces.create({ apiName: 'demo', displayName: 'Demo' }))
  const model = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')) as object
  await must(schema(db).apply(model, await must(schema(db).plan(model))))
  const manifest = await must(schema(db).manifest())
  await loadFolder({
    db,
    must,
    manifest: manifest as Parameters<typeof loadFolder>[0]['manifest'],
    folder: join(folder, 'data'),
    progress: (text) => progress(`demo: ${text}`),
  })
  rmSync(marker)
}
