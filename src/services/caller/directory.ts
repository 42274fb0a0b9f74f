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
import { type Caller, type Entry, isAdministrator, requireUser } from './callers.ts'

/** What a request says, read only after the caller was found to be entitled to it. */
export type Sent<T> = () => T | Promise<T>

/** Which rows of a collection there are for the caller. */
export type Reach =
  | { readonly kind: 'everything' }
  | { readonly kind: 'workspace'; readonly id: string }
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  /** What is of this user, or of a service account that they own. */
  | { readonly kind: 'user'; readonly id: string }
  /** That API key, and those that were made with it. */
  | { readonly kind: 'key'; readonly id: string }

export type Directory = {
  list(name: DirectoryName, reach: Reach, query: ReadQuery): Promise<ListAnswer>
  /** One row as JSON text, with the fields that `query` asks for; undefined where there is none. */
  find(name: DirectoryName, reach: Reach, id: string, query?: ReadQuery): Promise<string | undefined>
  /** The same; 404 where there is none. */
  read(name: DirectoryName, reach: Reach, id: string, query?: ReadQuery): Promise<string>
}

export function createDirectory(source: Source, config: Config): Directory {
  const model = directoryModel()
  const limits = { default: config.SERVICE_QUERY_LIMIT_DEFAULT, max: config.SERVICE_QUERY_LIMIT_MAX }

  function open(name: DirectoryName, reach: Reach): { key: PrimitiveField; context: ReadContext } {
    const collection = model.byName.get(name)
    const key = collection?.key
    if (collection === undefined || key === undefined) throw new Error(`there is no directory of ${name}`)
    const access = granted([{ rows: rowsOf(key, reach), fields: 'every', validation: all }])
    const viewer: Viewer = { seesModel: true, accessTo: () => access }
    return { key, context: { viewer, collection, access, limits, maxRows: config.SERVICE_QUERY__MAX_ROWS } }
  }

  async function find(name: DirectoryName, reach: Reach, id: string, query = everyField): Promise<string | undefined> {
    const { key, context } = open(name, reach)
    return source.prepareOne(planOne(context, query, is(key, id)))(noHoles)
  }

  return {
    async list(name, reach, query) {
      return source.prepareList(planList(open(name, reach).context, query))(noHoles)
    },
    find,
    async read(name, reach, id, query) {
      return (await find(name, reach, id, query)) ?? missing(name)
    },
  }
}

/** Everything about these reads is known when they are planned. */
function noHoles(name: string): never {
  throw new Error(`nothing stands for ${name}`)
}

export function missing(name: DirectoryName): never {
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

function rowsOf(key: PrimitiveField, reach: Reach): Filter {
  switch (reach.kind) {
    case 'everything':
      return all
    case 'workspace':
      return is(workspaceColumn, reach.id)
    case 'user':
      return or([is(userColumn, reach.id), is(ownerColumn, reach.id)])
    case 'key':
      return or([is(key, reach.id), is(makerColumn, reach.id)])
    case 'ids':
      return reach.ids.length === 0
        ? none
        : { kind: 'in', field: key, visible: all, negated: false, operands: reach.ids }
  }
}

function is(field: PrimitiveField, operand: string): Filter {
  return { kind: 'compare', field, visible: all, operator: '=', operand }
}

export function reachOf({ workspace }: Entry): Reach {
  return { kind: 'workspace', id: workspace.id }
}

/** Everything for administrators of the instance, their own for others; 403 for the anonymous caller. */
export function reachOfUser(caller: Caller): Reach {
  const id = requireUser(caller)
  return isAdministrator(caller) ? { kind: 'everything' } : { kind: 'user', id }
}
