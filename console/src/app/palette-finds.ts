/**
 * What the palette finds by what is typed, beyond the names of collections: fields of the workspace, items of the collection that is
 * shown and of those beside it, by what they are called, and the documentation. Loaded when somebody types.
 */
import { pages } from 'virtual:documentation'
import { clientOf } from '../data/client.ts'
import { queries } from '../data/queries.ts'
import { session } from '../data/session.ts'
import {
  accessQuery,
  isSystemName,
  manifestQuery,
  mayRead,
  namesQuery,
  readableQuery,
  workspacesQuery,
} from '../data/workspaces.ts'
import { help } from '../messages/help.ts'
import { t } from '../messages/messages.ts'
import { type CollectionModel, calledBy, modelQuery } from '../screens/grid/model.ts'
import { conditionOf } from '../screens/grid/picker.tsx'
import type { Row } from '../screens/grid/values.ts'
import { search } from '../ui/combobox.tsx'
import type { Command } from './palette.tsx'
import { isForAdministrators, places } from './places.ts'
import { itemPath, navigate, pathTo } from './router.ts'

export type Place = { readonly workspace: string | undefined; readonly collection: string | undefined }

/** So many collections are asked at once, and so many items of each are shown. */
const COLLECTIONS = 6
const ITEMS = 5
const FIELDS = 10
const DOCUMENTED = 8
/** Of so many the collections are known where none is open; each takes three requests, once. */
const WORKSPACES = 10

/** Without what cannot be read; where a request fails there is nothing of it. */
export async function find(
  { workspace, collection }: Place,
  text: string,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const ofWorkspace =
    workspace === undefined ? await collectionsOf(text) : await findIn(workspace, collection, text, signal)
  const rotations = await rotationsIn(workspace)
  return [...ofWorkspace, ...search([...rotations, ...placeCommands()], text), ...documentationOf(text)]
}

/** Those that the palette does not have before anything is typed. */
function placeCommands(): readonly Command[] {
  const isAdministrator = session.value.kind === 'signedIn' && session.value.user.isAdministrator
  return places
    .filter((place) => place !== 'account' && place !== 'audit-log')
    .map((place) => ({
      id: `place ${place}`,
      group: t.value.palette.actions,
      label: help.value.places[place],
      run: () => navigate(`/-/${place}`),
      ...(isForAdministrators[place] && !isAdministrator && { refusal: t.value.palette.administrators }),
    }))
}

/** Where what is secret is replaced: API keys, and the secrets that data sources use. */
async function rotationsIn(workspace: string | undefined): Promise<readonly Command[]> {
  const { actions, takes } = t.value.palette
  const { rotateKey, rotateSecret, words } = help.value.rotation
  const command = { group: actions, words }
  const ofKeys = { ...command, id: 'rotate key', label: rotateKey, run: () => navigate('/-/account') }
  if (workspace === undefined) return [ofKeys]
  const access = await queries.fetchQuery(accessQuery(workspace)).catch(() => undefined)
  const right = 'dataSource:create'
  return [
    ofKeys,
    {
      ...command,
      id: 'rotate secret',
      label: rotateSecret,
      detail: workspace,
      run: () => navigate(pathTo(workspace, 'sources', 'secrets')),
      ...(access?.entitlements.includes(right) !== true && { refusal: takes(right) }),
    },
  ]
}

/** Pages of the documentation and what they have headings of. */
function documentationOf(text: string): readonly Command[] {
  const all = pages.flatMap(({ path, title, headings }): readonly Command[] => {
    const page = `/-/docs/${path}`
    const command = { group: help.value.all, detail: title }
    return [
      { ...command, id: page, label: title, run: () => navigate(page) },
      ...headings.map((heading) => {
        const place = `${page}#${heading.id}`
        return { ...command, id: place, label: heading.title, run: () => navigate(place) }
      }),
    ]
  })
  return search(all, text).slice(0, DOCUMENTED)
}

/** Of one's workspaces, where none of them is open. */
async function collectionsOf(text: string): Promise<readonly Command[]> {
  const workspaces = await queries.fetchQuery(workspacesQuery()).catch(() => [])
  const found = await Promise.all(
    workspaces
      .slice(0, WORKSPACES)
      .map(async ({ apiName, displayName }) => {
        const [{ collections, ids }, names] = await Promise.all([
          queries.fetchQuery(accessQuery(apiName)),
          queries.fetchQuery(namesQuery(apiName)),
        ])
        return Object.keys(collections)
          .filter((name) => !isSystemName(name) && mayRead(collections[name]))
          .map((name): Command => {
            const path = pathTo(apiName, 'items', name)
            const label = names.get(ids[name] ?? '')?.displayName ?? name
            const command = { id: path, group: t.value.palette.collections, label, words: name }
            return { ...command, detail: displayName ?? apiName, run: () => navigate(path) }
          })
      })
      .map((all) => all.catch(() => [])),
  )
  return search(found.flat(), text)
}

async function findIn(
  workspace: string,
  collection: string | undefined,
  text: string,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const readable = await queries.fetchQuery(readableQuery(workspace)).catch(() => [])
  const own = readable.map(({ name }) => name)
  const first = collection === undefined ? own : [collection, ...own.filter((name) => name !== collection)]
  const models = await Promise.all(
    first.slice(0, COLLECTIONS).map((name) => queries.fetchQuery(modelQuery(workspace, name)).catch(() => null)),
  )
  const found = await Promise.all(
    models.flatMap((model) => (model === null ? [] : itemsIn(workspace, model, text, signal))),
  )
  return [...(await fieldsIn(workspace, text)), ...found.flat()]
}

async function itemsIn(
  workspace: string,
  model: CollectionModel,
  text: string,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  const { name, title, key, display } = model
  const filter = display && conditionOf(display, text)
  if (display === undefined || filter === undefined || key.length === 0) return []
  const query = { filter, fields: [...new Set([...key, ...display.shows])].join(), limit: ITEMS }
  type Answer = { readonly data: readonly Row[] }
  const answer = await clientOf(workspace).$request<Answer>('GET', `items/${encodeURIComponent(name)}`, {
    query,
    signal,
  })
  if (!answer.ok) return []
  return answer.data.data.map((row) => {
    const path = itemPath(
      workspace,
      name,
      key.map((part) => row[part]),
    )
    const label = calledBy(display, row) || path
    return { id: path, group: t.value.palette.items, label, detail: title, run: () => navigate(path) }
  })
}

/** A field leads to the rows, sorted by it. Its name says something to those who make the model. */
async function fieldsIn(workspace: string, text: string): Promise<readonly Command[]> {
  const access = await queries.fetchQuery(accessQuery(workspace)).catch(() => undefined)
  if (!access?.entitlements.includes('dataModel:edit')) return []
  const manifest = await queries.fetchQuery(manifestQuery(workspace)).catch(() => undefined)
  if (manifest === undefined) return []
  const { strings, serviceSchema, primitiveTypes } = manifest
  const fields = serviceSchema.collections.flatMap(({ apiName, isSystem, primitiveFields }) => {
    const collection = strings[apiName] ?? ''
    const rights = access.collections[collection]?.read ?? 'none'
    if (isSystem || rights === 'none') return []
    return primitiveFields.flatMap((field): readonly Command[] => {
      const label = strings[field.apiName] ?? ''
      if (rights !== 'all' && !rights.fields.includes(label)) return []
      const detail = `${collection} · ${primitiveTypes[field.type]?.name ?? ''}`
      const path = `${pathTo(workspace, 'items', collection)}?sort=${encodeURIComponent(label)}`
      return [{ id: field.id, group: t.value.palette.fields, label, detail, run: () => navigate(path) }]
    })
  })
  return search(fields, text).slice(0, FIELDS)
}
