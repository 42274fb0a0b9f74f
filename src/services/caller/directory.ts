/**
 * Lists of the directory (workspaces, users, keys, members, roles and the like), read like items over the built-in
 * model of the schema `service`. Callers of these functions check entitlements.
 */
import type { Config } from '../../config.ts'
import { granted, type Viewer } from '../../core/access/access.ts'
import { ServiceError } from '../../core/error.ts'
import {
  type DirectoryName,
  directoryModel,
  makerColumn,
  ownerColumn,
  userColumn,
  workspaceColumn,
} from '../../core/model/directory.ts'
import type { PrimitiveField } from '../../core/model/model.ts'
import { planList, planOne, type ReadContext } from '../../core/plan/read.ts'
import { all, type Filter, none, or } from '../../core/query/filter.ts'
import { noArguments, type ReadQuery, refuseEstimate } from '../../core/query/parse.ts'
import { unbound } from '../../core/query/placeholder.ts'
import type { ListAnswer, Source } from '../../sources/source.ts'
import { type Caller, isAdministrator, requireUser } from './caller.ts'
import type { RequestScope } from './callers.ts'

/** JSON text of a saved item, and warnings for the caller. */
export type SavedItem = { readonly item: string; readonly warnings: readonly object[] }

/** Parses the request body; called only after authorization. */
export type LazyBody<T> = () => T | Promise<T>

/** Which rows of a collection the caller can see. */
export type RowScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'workspace'; readonly id: string }
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  /** Rows of this user, and of the service accounts that the user owns. */
  | { readonly kind: 'user'; readonly id: string }
  /** This API key, and the keys created with it. */
  | { readonly kind: 'key'; readonly id: string }

export const everything: RowScope = { kind: 'everything' }

export type Directory = {
  list(name: DirectoryName, rowScope: RowScope, query: ReadQuery): Promise<ListAnswer>
  /** Returns one row as JSON text with the fields of `query`; undefined if there is no such row. */
  find(name: DirectoryName, rowScope: RowScope, id: string, query?: ReadQuery): Promise<string | undefined>
  /** Like `find`, but throws 404 if there is no such row. */
  read(name: DirectoryName, rowScope: RowScope, id: string, query?: ReadQuery): Promise<string>
}

export type DirectoryDeps = {
  /** Returns the system database as a source; `share` is the key of its fair queue. */
  readonly sourceOf: (share: string) => Source
  readonly config: Config
}

export function createDirectory(deps: DirectoryDeps): Directory {
  const { sourceOf, config } = deps
  const model = directoryModel()
  const limits = { default: config.SERVICE_QUERY_LIMIT_DEFAULT, max: config.SERVICE_QUERY_LIMIT_MAX }

  function open(name: DirectoryName, rowScope: RowScope): { key: PrimitiveField; context: ReadContext } {
    const collection = model.byName.get(name)
    const [key] = collection?.key ?? []
    if (collection === undefined || key === undefined) throw new Error(`there is no directory of ${name}`)
    const access = granted([{ rows: rowsOf(key, rowScope), fields: 'every', validation: all }])
    const viewer: Viewer = { seesModel: true, accessTo: () => access }
    return { key, context: { viewer, collection, access, limits, maxRows: config.SERVICE_QUERY__MAX_ROWS } }
  }

  async function find(
    name: DirectoryName,
    rowScope: RowScope,
    id: string,
    query = everyField,
  ): Promise<string | undefined> {
    const { key, context } = open(name, rowScope)
    return sourceOf(shareOf(rowScope)).prepareOne(planOne(context, query, is(key, id)))(unbound)
  }

  return {
    async list(name, rowScope, query) {
      refuseEstimate(query)
      return sourceOf(shareOf(rowScope)).prepareList(planList(open(name, rowScope).context, query))(unbound)
    },
    find,
    async read(name, rowScope, id, query) {
      return (await find(name, rowScope, id, query)) ?? notFound(name)
    },
  }
}

export function notFound(name: DirectoryName): never {
  throw new ServiceError('notFound', `${titles[name]} does not exist`)
}

const titles: Readonly<Record<DirectoryName, string>> = {
  workspaces: 'Workspace',
  users: 'User',
  apiKeys: 'API key',
  serviceAccounts: 'Service account',
  members: 'Member',
  roles: 'Role',
  policies: 'Policy',
  invitations: 'Invitation',
  auditLog: 'Audit entry',
  providers: 'Provider',
}

const everyField: ReadQuery = {
  ...noArguments,
  fields: undefined,
  deep: new Map(),
  totalCount: false,
  totalEstimate: false,
  max: undefined,
  conflict: undefined,
}

/** Reads of one workspace, or of one user, share a queue, so that they do not delay others. */
function shareOf(rowScope: RowScope): string {
  return 'id' in rowScope ? rowScope.id : rowScope.kind
}

function rowsOf(key: PrimitiveField, rowScope: RowScope): Filter {
  switch (rowScope.kind) {
    case 'everything':
      return all
    case 'workspace':
      return is(workspaceColumn, rowScope.id)
    case 'user':
      return or([is(userColumn, rowScope.id), is(ownerColumn, rowScope.id)])
    case 'key':
      return or([is(key, rowScope.id), is(makerColumn, rowScope.id)])
    case 'ids':
      return rowScope.ids.length === 0
        ? none
        : { kind: 'in', field: key, visible: all, negated: false, operands: rowScope.ids }
  }
}

function is(field: PrimitiveField, operand: string): Filter {
  return { kind: 'compare', field, visible: all, operator: '=', operand }
}

export function rowScopeOf({ workspace }: RequestScope): RowScope {
  return { kind: 'workspace', id: workspace.id }
}

/** All rows for administrators of the instance, their own for others; 403 for the anonymous caller. */
export function rowScopeOfUser(caller: Caller): RowScope {
  const id = requireUser(caller)
  return isAdministrator(caller) ? everything : { kind: 'user', id }
}
