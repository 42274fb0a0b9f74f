/**
 * Lists of workspaces, users, API keys, service accounts, members, roles, policies, invitations and audit entries: read
 * like items, over the built-in model of the schema `service`. Whether the caller may ask at all is decided by whoever calls.
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
import type { ReadQuery } from '../../core/query/parse.ts'
import type { ListAnswer, Source } from '../../sources/source.ts'
import { type Caller, isAdministrator, type RequestScope, requireUser } from './callers.ts'

/** What a request says, read only after the caller was found to be entitled to it. */
export type LazyBody<T> = () => T | Promise<T>

/** Which rows of a collection there are for the caller. */
export type RowScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'workspace'; readonly id: string }
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  /** What is of this user, or of a service account that they own. */
  | { readonly kind: 'user'; readonly id: string }
  /** That API key, and those that were made with it. */
  | { readonly kind: 'key'; readonly id: string }

export type Directory = {
  list(name: DirectoryName, rowScope: RowScope, query: ReadQuery): Promise<ListAnswer>
  /** One row as JSON text, with the fields that `query` asks for; undefined where there is none. */
  find(name: DirectoryName, rowScope: RowScope, id: string, query?: ReadQuery): Promise<string | undefined>
  /** The same; 404 where there is none. */
  read(name: DirectoryName, rowScope: RowScope, id: string, query?: ReadQuery): Promise<string>
}

export function createDirectory(source: Source, config: Config): Directory {
  const model = directoryModel()
  const limits = { default: config.SERVICE_QUERY_LIMIT_DEFAULT, max: config.SERVICE_QUERY_LIMIT_MAX }

  function open(name: DirectoryName, rowScope: RowScope): { key: PrimitiveField; context: ReadContext } {
    const collection = model.byName.get(name)
    const key = collection?.key
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
    return source.prepareOne(planOne(context, query, is(key, id)))(noPlaceholders)
  }

  return {
    async list(name, rowScope, query) {
      return source.prepareList(planList(open(name, rowScope).context, query))(noPlaceholders)
    },
    find,
    async read(name, rowScope, id, query) {
      return (await find(name, rowScope, id, query)) ?? notFound(name)
    },
  }
}

/** Everything about these reads is known when they are planned. */
function noPlaceholders(name: string): never {
  throw new Error(`nothing stands for ${name}`)
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
  fields: undefined,
  filter: undefined,
  sort: [],
  limit: undefined,
  offset: 0,
  deep: new Map(),
  totalCount: false,
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

/** Everything for administrators of the instance, their own for others; 403 for the anonymous caller. */
export function rowScopeOfUser(caller: Caller): RowScope {
  const id = requireUser(caller)
  return isAdministrator(caller) ? { kind: 'everything' } : { kind: 'user', id }
}
