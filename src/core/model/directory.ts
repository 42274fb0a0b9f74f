/**
 * The directory: a built-in model over the tables of workspaces, members and rights in the schema `service`, so that
 * their lists are read through the same pipeline as items. Services decide which rows a caller sees.
 */
import type { FieldType } from './field-type.ts'
import { buildModel, type Model, noRecords, type PrimitiveField } from './model.ts'

export type DirectoryName =
  | 'workspaces'
  | 'users'
  | 'apiKeys'
  | 'serviceAccounts'
  | 'members'
  | 'roles'
  | 'policies'
  | 'invitations'
  | 'auditLog'
  | 'providers'

type Column = readonly [apiName: string, dbName: string, type: ColumnType]
type ColumnType = 'uuid' | 'uuid?' | 'uuid[]' | 'string' | 'string?' | 'boolean' | 'time' | 'time?' | 'json' | 'json?'

/** The first column is the key. */
const tables: Readonly<Record<DirectoryName, { readonly table: string; readonly columns: readonly Column[] }>> = {
  workspaces: {
    table: 'workspace',
    columns: [
      ['id', 'id', 'uuid'],
      ['apiName', 'api_name', 'string'],
      ['displayName', 'display_name', 'string?'],
    ],
  },
  users: {
    table: 'user',
    columns: [
      ['id', 'id', 'uuid'],
      ['email', 'email', 'string?'],
      ['fullName', 'full_name', 'string?'],
      ['status', 'status', 'string'],
      ['isAdministrator', 'is_administrator', 'boolean'],
      ['isService', 'is_service', 'boolean'],
      ['emailProvenAt', 'email_proven_at', 'time?'],
      ['createdAt', 'created_at', 'time'],
    ],
  },
  apiKeys: {
    table: 'api_key_view',
    columns: [
      ['id', 'id', 'uuid'],
      ['name', 'name', 'string'],
      ['description', 'description', 'string?'],
      ['active', 'active', 'boolean'],
      ['userId', 'user_id', 'uuid'],
      ['expiresAt', 'expires_at', 'time?'],
      ['createdAt', 'created_at', 'time'],
      ['lastUsedAt', 'last_used_at', 'time?'],
      ['scope', 'scope', 'json?'],
      ['madeBy', 'made_by', 'uuid?'],
    ],
  },
  serviceAccounts: {
    table: 'service_account_view',
    columns: [
      ['id', 'id', 'uuid'],
      ['name', 'name', 'string'],
      ['description', 'description', 'string?'],
      ['isService', 'is_service', 'boolean'],
      ['status', 'status', 'string'],
      ['owner', 'owner_id', 'uuid'],
      ['serviceAccountOwner', 'owner', 'json'],
      ['roles', 'roles', 'json'],
      ['createdAt', 'created_at', 'time'],
    ],
  },
  members: {
    table: 'member_view',
    columns: [
      ['userId', 'user_id', 'uuid'],
      ['email', 'email', 'string?'],
      ['fullName', 'full_name', 'string?'],
      ['isService', 'is_service', 'boolean'],
      ['status', 'status', 'string'],
      ['roles', 'roles', 'uuid[]'],
      ['createdAt', 'created_at', 'time'],
    ],
  },
  roles: {
    table: 'role_view',
    columns: [
      ['id', 'id', 'uuid'],
      ['name', 'name', 'string'],
      ['description', 'description', 'string?'],
      ['kind', 'kind', 'string'],
      ['policies', 'policies', 'uuid[]'],
    ],
  },
  policies: {
    table: 'policy',
    columns: [
      ['id', 'id', 'uuid'],
      ['name', 'name', 'string'],
      ['description', 'description', 'string?'],
      ['content', 'content', 'json'],
      ['createdAt', 'created_at', 'time'],
    ],
  },
  invitations: {
    table: 'invitation_view',
    columns: [
      ['id', 'id', 'uuid'],
      ['email', 'email', 'string'],
      ['workspace_roles', 'workspace_roles', 'uuid[]'],
      ['invitedBy', 'invited_by', 'uuid?'],
      ['createdAt', 'created_at', 'time'],
      ['expiresAt', 'expires_at', 'time'],
    ],
  },
  auditLog: {
    table: 'audit_entry',
    columns: [
      ['id', 'id', 'uuid'],
      ['time', 'time', 'time'],
      ['action', 'action', 'string'],
      ['label', 'label', 'string'],
      ['outcome', 'outcome', 'string'],
      ['actorType', 'actor_type', 'string'],
      ['actorId', 'actor_id', 'uuid?'],
      ['actorEmail', 'actor_email', 'string?'],
      ['workspaceId', 'workspace_id', 'uuid?'],
      ['targetType', 'target_type', 'string?'],
      ['targetId', 'target_id', 'uuid?'],
      ['ip', 'ip', 'string?'],
      ['payload', 'payload', 'json'],
    ],
  },
  providers: {
    table: 'provider_view',
    columns: [
      ['name', 'name', 'string'],
      ['id', 'id', 'uuid'],
      ['issuer', 'issuer', 'string?'],
      ['authorizationEndpoint', 'authorization_endpoint', 'string?'],
      ['tokenEndpoint', 'token_endpoint', 'string?'],
      ['userinfoEndpoint', 'userinfo_endpoint', 'string?'],
      ['emailsEndpoint', 'emails_endpoint', 'string?'],
      ['claims', 'claims', 'json?'],
      ['clientAuthentication', 'client_authentication', 'string?'],
      ['clientId', 'client_id', 'string'],
      ['scopes', 'scopes', 'json'],
      ['enabled', 'enabled', 'boolean'],
      ['autoJoin', 'auto_join', 'json?'],
      ['createdAt', 'created_at', 'time'],
    ],
  },
}

export function directoryModel(): Model {
  const names = Object.keys(tables) as DirectoryName[]
  return buildModel(1, {
    ...noRecords,
    namespaces: [{ id: 'service', sourceId: 'system', dbName: 'service', isSystem: true }],
    collections: names.map((name) => ({
      id: name,
      sourceId: 'system',
      namespaceId: 'service',
      dbName: tables[name].table,
      apiName: name,
      isReadOnly: true,
      isSystem: true,
      isView: false,
    })),
    primitiveFields: names.flatMap((name) =>
      tables[name].columns.map(([apiName, dbName, type]) => ({
        id: `${name}.${apiName}`,
        collectionId: name,
        dbName,
        apiName,
        type: fieldTypes[type],
        isNullable: type.endsWith('?'),
        isList: type.endsWith('[]'),
        isReadOnly: true,
        defaultValue: null,
        isLoose: false,
        native: null,
      })),
    ),
    indexes: names.map((name) => ({
      id: `${name}.key`,
      collectionId: name,
      dbName: name,
      kind: 'primary',
      fieldIds: tables[name].columns.slice(0, 1).map(([apiName]) => `${name}.${apiName}`),
    })),
  })
}

const uuid: FieldType = { name: 'uuid' }
const text: FieldType = { name: 'string', params: { length: 'unlimited' } }

/** The column with the workspace of a row. Not a field, since every list is of one workspace. */
export const workspaceColumn = hiddenColumn('workspaceColumn', 'workspace_id')

/**
 * The columns with the people that API keys and service accounts belong to: the key's user, and the account's owner.
 */
export const userColumn = hiddenColumn('userColumn', 'user_id')
export const ownerColumn = hiddenColumn('ownerColumn', 'owner_id')

/** The column with the API key by which another key was created. */
export const makerColumn = hiddenColumn('makerColumn', 'made_by')

function hiddenColumn(id: string, dbName: string): PrimitiveField {
  return {
    kind: 'primitive',
    id,
    collectionId: '',
    dbName,
    apiName: id,
    type: uuid,
    isNullable: true,
    isList: false,
    isReadOnly: true,
    defaultValue: null,
    isLoose: false,
    native: null,
  }
}

const fieldTypes: Readonly<Record<ColumnType, FieldType>> = {
  uuid,
  'uuid?': uuid,
  'uuid[]': uuid,
  string: text,
  'string?': text,
  boolean: { name: 'boolean' },
  time: { name: 'dateTimeWithTimezone' },
  'time?': { name: 'dateTimeWithTimezone' },
  json: { name: 'json' },
  'json?': { name: 'json' },
}
