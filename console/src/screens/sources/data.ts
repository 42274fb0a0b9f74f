/**
 * The queries of the screens of data sources: sources, their settings as far as they are shown, whether each works, connectors and
 * secrets.
 */
import type { ServiceError } from 'governed-data-client'
import type { Breaks } from 'governed-data-client/system'
import { pathTo } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { type Query, queries } from '../../data/queries.ts'
import { modelChanged } from '../../data/workspaces.ts'
import { explainFault } from '../../messages/fault.ts'
import { compareNames } from '../../messages/messages.ts'
import type { ItemsRequest } from '../code/request.ts'

export type Source = { readonly id: string; readonly apiName: string; readonly provider: string }

export type Permission = { readonly permission: string; readonly reason: string }

export type Outline = {
  readonly host?: string
  readonly port?: number
  readonly permissions: readonly Permission[]
  readonly secrets: readonly string[]
  readonly mayChange: boolean
}

/** What is imported of a table. */
export type Imported = {
  readonly id: string
  readonly apiName: string
  readonly dbName: string
  readonly sourceId: string
  readonly namespaceId: string | null
  readonly namespace: { readonly dbName: string } | null
}

export type Secret = { readonly name: string; readonly createdAt: string; readonly updatedAt: string }

export type Connector = {
  readonly id: string
  readonly name: string
  readonly origin: 'builtIn' | 'extension'
  readonly isAvailable: boolean
  readonly unavailableReason: string | null
  readonly permissions: readonly Permission[]
  readonly presets: readonly { readonly id: string; readonly name: string; readonly hint?: string }[]
}

export type Connectors = {
  readonly data: readonly Connector[]
  /** For administrators of the instance. */
  readonly meta?: { readonly broken: readonly { readonly location: string; readonly reason: string }[] }
}

/** An operation of an import; which members its data has goes by its kind. */
export type Operation = { readonly kind: string; readonly data: OperationData }

export type OperationData = {
  readonly id?: string
  readonly apiName?: string
  readonly dbName?: string
  readonly namespaceId?: string | null
  readonly operations?: readonly Operation[]
  readonly relationName?: string
  readonly data?: { readonly firstField?: { readonly apiName: string; readonly collectionId?: string } }
}

export type Skipped = { readonly table: string; readonly reason: string }

/** The reason of tables that somebody left out themselves. */
export const NOT_CHOSEN = 'is not included'

/** What an import would do. */
export type Preview = {
  readonly operations: readonly Operation[]
  readonly renames: readonly { readonly from: string; readonly to: string; readonly certain: boolean }[]
  readonly breaking: readonly { readonly collection: string; readonly field?: string; readonly operation: string }[]
  /** Without names for who may not read policies. */
  readonly policies: readonly { readonly id?: string; readonly name?: string; readonly fields: readonly string[] }[]
  readonly skipped: readonly Skipped[]
  readonly breaks?: Breaks
  /** What an import is sent with that is to be this one. */
  readonly plan?: string
}

/** The source that every workspace has. */
export const OWN = '_system'

const KIND = 'sources'

const DRY_RUN = 600_000

async function read<T>(workspace: string, path: string, query: object = {}): Promise<T> {
  return (await clientOf(workspace).$request<{ readonly data: T }>('GET', path, { query }).orThrow()).data
}

export function sourcesQuery(workspace: string): Query<readonly Source[]> {
  const query = { fields: 'id,apiName,provider', limit: 0 }
  return {
    queryKey: [KIND, workspace],
    queryFn: async () => {
      const found = await read<readonly Source[]>(workspace, 'items/ServiceDataSource', query)
      // The workspace's own first.
      return found.toSorted((one, other) =>
        one.apiName === OWN ? -1 : other.apiName === OWN ? 1 : compareNames(one.apiName, other.apiName),
      )
    },
  }
}

/** The same as code; of one source where its id is given. */
export function sourcesRequest(workspace: string, id?: string): ItemsRequest {
  const query = { fields: 'id,apiName,provider' }
  return { workspace, collection: 'ServiceDataSource', method: 'GET', query, ...(id !== undefined && { key: { id } }) }
}

export function outlineQuery(workspace: string, id: string): Query<Outline> {
  return { queryKey: [KIND, workspace, id, 'outline'], queryFn: () => read(workspace, `sources/data/${id}`) }
}

export function importedQuery(workspace: string): Query<readonly Imported[]> {
  const query = {
    fields: 'id,apiName,dbName,sourceId,namespaceId,namespace.dbName',
    filter: '{"isSystem":{"_eq":false}}',
    limit: 0,
  }
  return {
    queryKey: [KIND, workspace, 'collections'],
    queryFn: () => read(workspace, 'items/ServiceCollection', query),
  }
}

/** Names of fields by their ids: those of a source. */
export function fieldNamesQuery(workspace: string, id: string): Query<ReadonlyMap<string, string>> {
  type Field = { readonly id: string; readonly apiName: string }
  const query = { fields: 'id,apiName', filter: JSON.stringify({ collection: { sourceId: { _eq: id } } }), limit: 0 }
  return {
    queryKey: [KIND, workspace, id, 'fields'],
    queryFn: async () => {
      const found = await read<readonly Field[]>(workspace, 'items/ServicePrimitiveField', query)
      return new Map(found.map((field) => [field.id, field.apiName]))
    },
  }
}

/** Opens the source and reads what there is: whether it works, and what an import would change. */
export function lookQuery(workspace: string, id: string): Query<Preview> {
  return {
    queryKey: [KIND, workspace, id, 'look'],
    queryFn: async () => {
      const options = { body: {}, query: { dryRun: true }, timeout: DRY_RUN }
      const path = `schema/introspect/${id}`
      return (await clientOf(workspace).$request<{ readonly data: Preview }>('POST', path, options).orThrow()).data
    },
    staleTime: 300_000,
  }
}

export function connectorsQuery(workspace: string): Query<Connectors> {
  return {
    queryKey: ['connectors', workspace],
    queryFn: () => clientOf(workspace).$request<Connectors>('GET', 'connectors/data').orThrow(),
  }
}

export function secretsQuery(workspace: string): Query<readonly Secret[]> {
  return { queryKey: ['secrets', workspace], queryFn: () => read(workspace, 'secrets') }
}

/** The names of the sources by the secret that they use. */
export function usersQuery(workspace: string): Query<ReadonlyMap<string, readonly string[]>> {
  return {
    queryKey: [KIND, workspace, 'users'],
    queryFn: async () => {
      const all = await queries.fetchQuery(sourcesQuery(workspace))
      const users = await Promise.all(
        all.map(async ({ id, apiName }) => {
          const { secrets } = await queries.fetchQuery(outlineQuery(workspace, id))
          return secrets.map((secret) => ({ secret, apiName }))
        }),
      )
      const bySecret = Map.groupBy(users.flat(), ({ secret }) => secret)
      return new Map([...bySecret].map(([secret, of]) => [secret, of.map(({ apiName }) => apiName)]))
    },
  }
}

/** Where another source of a provider is attached. */
export function attachPath(workspace: string, provider: string): string {
  return `${pathTo(workspace, 'sources', 'new')}?provider=${encodeURIComponent(provider)}`
}

/** After a source was attached, imported or deleted. */
export async function sourcesChanged(workspace: string): Promise<void> {
  await queries.invalidateQueries({ queryKey: [KIND, workspace] })
  void modelChanged(workspace)
}

export type StateName = 'looking' | 'works' | 'new' | 'changed' | 'grant' | 'off' | 'starting' | 'failing' | 'unknown'

export type State = {
  readonly name: StateName
  /** In words of the service. */
  readonly reason?: string
  /** Whether its extension runs, and refuses what it is set up with. */
  readonly isRefused?: boolean
  /** The hosts that it needs by now. */
  readonly required?: readonly Permission[]
}

type Looked = { readonly data: Preview | undefined; readonly error: ServiceError | null; readonly isFetching: boolean }

export function stateOf({ data, error, isFetching }: Looked, isNew: boolean): State {
  if (isFetching) return { name: 'looking' }
  if (error) return failedState(error)
  if (data === undefined) return { name: 'unknown' }
  if (data.operations.length === 0) return { name: 'works' }
  return { name: isNew ? 'new' : 'changed' }
}

function failedState(error: ServiceError): State {
  const { status, code, meta, messages } = error
  const reason = messages.filter(Boolean).join(': ')
  if (code === MISMATCH) return { name: 'grant', required: requiredIn(meta) }
  if (messages.includes('Data source is restarting')) return { name: 'starting', reason }
  if (messages.some((text) => deactivated.has(text))) {
    return { name: 'off', reason, isRefused: messages.includes('Invalid extension configuration') }
  }
  if ([0, 401, 403, 404, 429].includes(status)) return { name: 'unknown', reason: explainFault(error) }
  return { name: 'failing', reason: status === 503 ? reason : explainFault(error) }
}

/** The grant is not what the connector needs. */
export const MISMATCH = '7001'

const deactivated: ReadonlySet<string> = new Set(['Data source is deactivated', 'The extension could not be started'])

export function requiredIn(meta: unknown): readonly Permission[] {
  return ((meta ?? {}) as { readonly permissions?: readonly Permission[] }).permissions ?? []
}
