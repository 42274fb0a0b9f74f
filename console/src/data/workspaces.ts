/** Workspaces, and the collections of one, from its manifest. */
import { ServiceError } from 'governed-data-client'
import type { ManifestText } from 'governed-data-client/generate'
import { type Access, schema, type WorkspaceRecord, workspace as workspaceOf } from 'governed-data-client/system'
import { compareNames } from '../messages/messages.ts'
import { clientOf, system } from './client.ts'
import { type Query, queries } from './queries.ts'

export type Workspace = WorkspaceRecord

export type CollectionName = { readonly name: string; readonly isSystem: boolean }

export function workspacesQuery(): Query<readonly Workspace[]> {
  return {
    queryKey: ['workspaces'],
    queryFn: () => system.workspaces.list({ limit: 0, fields: ['id', 'apiName', 'displayName'] }).orThrow(),
  }
}

/** One request for all screens of a workspace: of the whole model where it is shown to the caller, else of what they can use. */
export function manifestQuery(workspace: string): Query<ManifestText> {
  return {
    queryKey: ['manifest', workspace],
    queryFn: async () => readManifest(workspace, await queries.fetchQuery(accessQuery(workspace))),
    staleTime: 300_000,
  }
}

async function readManifest(workspace: string, access: Access): Promise<ManifestText> {
  const manifest = await schema(clientOf(workspace))
    .manifest({ usable: !seesModel(access) })
    .orThrow()
  return manifest as ManifestText
}

/** What the caller may do: one request for all screens of a workspace. */
export function accessQuery(workspace: string): Query<Access> {
  return {
    queryKey: ['access', workspace],
    queryFn: () => workspaceOf(clientOf(workspace)).access().orThrow(),
    staleTime: 60_000,
  }
}

/** Whether all of the manifest is shown: nothing is asked that would be refused. */
export const seesModel = ({ entitlements }: Access) => entitlements.includes('dataModel:read')

export function collectionsQuery(workspace: string): Query<readonly CollectionName[]> {
  return { queryKey: ['collections', workspace], queryFn: () => readCollections(workspace), staleTime: 60_000 }
}

/** How people call and show a collection, field or relation; each may be unsaid. */
export type Presentation = {
  readonly displayName: string | null
  readonly description: string | null
  /** An emoji. */
  readonly icon: string | null
  readonly color: string | null
  readonly displayTemplate: string | null
  readonly sort: number | null
  readonly isHidden: boolean | null
}

/** By the id of what it is about. */
export type Presentations = ReadonlyMap<string, Presentation>

/** Of all collections of a workspace, asked for once; without them things are called as in the API. */
export function namesQuery(workspace: string): Query<Presentations> {
  type Answer = { readonly data: readonly (Presentation & Readonly<Record<string, unknown>>)[] }
  const read = async (collection: string, id: string, rights: Access['collections'][string] | undefined) => {
    const all = [id, 'displayName', 'description', 'icon', 'color', 'displayTemplate', 'sort', 'isHidden']
    const fields = all.filter((name) => mayReadField(rights, name))
    if (!fields.includes(id)) return []
    const query = { limit: 0, fields: fields.join() }
    const answer = await clientOf(workspace).$request<Answer>('GET', `items/${collection}`, { query })
    return answer.ok ? answer.data.data.map((row) => [String(row[id]), row] as const) : []
  }
  return {
    queryKey: ['names', workspace],
    staleTime: 300_000,
    queryFn: async () => {
      const { collections: rights } = await queries.fetchQuery(accessQuery(workspace))
      const readNames = (collection: string, id: string) => read(collection, id, rights[collection])
      const [collections, fields] = await Promise.all([
        readNames('ServiceCollectionMeta', 'collectionId'),
        readNames('ServiceFieldMeta', 'fieldId'),
      ])
      return new Map([...collections, ...fields])
    },
  }
}

/** Those with a place of their own first, in its order. */
export function inOrder<T>(all: readonly T[], sortOf: (one: T) => number | null | undefined): readonly T[] {
  const placeOf = (one: T) => sortOf(one) ?? Number.POSITIVE_INFINITY
  return all.toSorted((one, other) => (placeOf(one) === placeOf(other) ? 0 : placeOf(one) - placeOf(other)))
}

export type ReadableCollection = {
  readonly name: string
  readonly title: string
  readonly description?: string | null
  readonly icon?: string | null
  readonly color?: string | null
}

/** What people call a collection; its name, where it is not among these. */
export function titleIn(readable: readonly ReadableCollection[], name: string): string {
  return readable.find((one) => one.name === name)?.title ?? name
}

/** Those with rows to be shown, in their order: whoever may read the model knows of others, too. */
export function readableQuery(workspace: string): Query<readonly ReadableCollection[]> {
  const readShown = async () => {
    const [all, { collections, ids }, names] = await Promise.all([
      queries.fetchQuery(collectionsQuery(workspace)),
      queries.fetchQuery(accessQuery(workspace)),
      queries.fetchQuery(namesQuery(workspace)),
    ])
    const found = all.flatMap(({ name, isSystem }) => {
      const shown = names.get(ids[name] ?? '')
      if (isSystem || shown?.isHidden || !mayRead(collections[name])) return []
      return { ...shown, name, title: shown?.displayName ?? name }
    })
    const byTitle = found.toSorted((one, other) => compareNames(one.title, other.title))
    return inOrder(byTitle, ({ sort }) => sort)
  }
  return { queryKey: ['readable', workspace], queryFn: readShown, staleTime: 60_000 }
}

function mayReadField(rights: Access['collections'][string] | undefined, field: string): boolean {
  const read = rights?.read ?? 'none'
  return read === 'all' || (read !== 'none' && read.fields.includes(field))
}

export const mayRead = (rights: Access['collections'][string] | undefined) => (rights?.read ?? 'none') !== 'none'

/** As they are now. */
export async function readCollections(workspace: string): Promise<readonly CollectionName[]> {
  const access = await workspaceOf(clientOf(workspace)).access().orThrow()
  return collectionsOf(await readManifest(workspace, access))
}

/** After a change of the model: everything that follows from it is asked for again when it is next shown. */
export async function modelChanged(workspace: string): Promise<void> {
  for (const kind of ['manifest', 'collections', 'access', 'names', 'readable', 'model'])
    await queries.invalidateQueries({ queryKey: [kind, workspace] })
}

function collectionsOf({ strings, serviceSchema }: ManifestText): readonly CollectionName[] {
  return serviceSchema.collections.map(({ apiName, isSystem = false }) => ({ name: strings[apiName] ?? '', isSystem }))
}

export const isSystemName = (name: string) => /^Service[A-Z]/.test(name)

/** Whether there is no such workspace for whoever asks. */
export function isNowhere(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 404
}
