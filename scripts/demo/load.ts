/**
 * Makes the workspace `demo` of `demo/model.json` and the files of `demo/data`, as `governed schema push` and `governed load`
 * would, and uploads the posters. An interrupted load starts again: a marker in the data directory remains until the last item is stored.
 */
import './own-packages.ts'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { connectionOf } from '../../packages/cli/src/connection.ts'

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
  progress('demo: posters')
  await hang(connection)
  rmSync(marker)
}

/** Gives each film the poster of its genre; those of none have `film.webp`. */
async function hang({ db, must }: ReturnType<typeof connectionOf>): Promise<void> {
  const { files } = await import('../../packages/client/src/files.ts')
  const films = JSON.parse(readFileSync(join(folder, 'data/films.json'), 'utf8')) as readonly { genre: string | null }[]
  for (const genre of new Set(films.map((film) => film.genre))) {
    const fileName = `${(genre ?? 'film').toLowerCase().replaceAll(/\W+/g, '-')}.webp`
    const poster = new Blob([readFileSync(join(folder, 'posters', fileName))])
    const { id } = await must(files(db).upload(poster, { fileName }))
    const filter = { genre: genre === null ? { _null: true } : { _eq: genre } }
    await must(db.$request('PATCH', 'items/films', { query: { filter, fields: 'id' }, body: { posterId: id } }))
  }
}
