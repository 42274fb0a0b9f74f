/** Workspaces, and the collections of one: from the manifest, or from one's own rights where the manifest is not shown. */
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

/** One request for all screens of a workspace. */
export function manifestQuery(workspace: string): Query<ManifestText> {
  return {
    queryKey: ['manifest', workspace],
    queryFn: async () => (await schema(clientOf(workspace)).manifest().orThrow()) as ManifestText,
    staleTime: 300_000,
  }
}

/** What the caller may do: one request for all screens of a workspace. */
export function accessQuery(workspace: string): Query<Access> {
  return {
    queryKey: ['access', workspace],
    queryFn: () => workspaceOf(clientOf(workspace)).access().orThrow(),
    staleTime: 60_000,
  }
}

export function collectionsQuery(workspace: string): Query<readonly CollectionName[]> {
  return { queryKey: ['collections', workspace], queryFn: () => readCollections(workspace), staleTime: 60_000 }
}

/** Those with rows to be shown, by name: whoever may read the model knows of others, too. */
export function readableQuery(workspace: string): Query<readonly string[]> {
  const readNames = async () => {
    const [all, { collections }] = await Promise.all([
      queries.fetchQuery(collectionsQuery(workspace)),
      queries.fetchQuery(accessQuery(workspace)),
    ])
    return all.flatMap(({ name, isSystem }) => (isSystem || !mayRead(collections[name]) ? [] : name)).sort(compareNames)
  }
  return { queryKey: ['readable', workspace], queryFn: readNames, staleTime: 60_000 }
}

const mayRead = (rights: Access['collections'][string] | undefined) => (rights?.read ?? 'none') !== 'none'

/** As they are now. */
export async function readCollections(workspace: string): Promise<readonly CollectionName[]> {
  const manifest = await schema(clientOf(workspace)).manifest()
  if (manifest.ok) return collectionsOf(manifest.data as ManifestText)
  if (manifest.status !== 403) throw manifest.error
  const access = await workspaceOf(clientOf(workspace)).access()
  if (!access.ok) throw access.status === 404 ? access.error : manifest.error
  return Object.keys(access.data.collections).map((name) => ({ name, isSystem: isSystemName(name) }))
}

/** After a change of the model: everything that follows from it is asked for again when it is next shown. */
export async function modelChanged(workspace: string): Promise<void> {
  for (const kind of ['manifest', 'collections', 'access', 'readable', 'names', 'model'])
    await queries.invalidateQueries({ queryKey: [kind, workspace] })
}

function collectionsOf({ strings, serviceSchema }: ManifestText): readonly CollectionName[] {
  return serviceSchema.collections.map(({ apiName, isSystem = false }) => ({ name: strings[apiName] ?? '', isSystem }))
}

const isSystemName = (name: string) => /^Service[A-Z]/.test(name)

/** Whether there is no such workspace for whoever asks. */
export function isNowhere(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 404
}
