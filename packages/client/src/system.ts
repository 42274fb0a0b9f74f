/** Calls on the model, on who may do what, and on the instance (docs/api.md). Their lists are read like items. */
import type { User } from './account.ts'
import type { Call } from './call.ts'
import type { Requesting } from './client.ts'
import { split, under } from './items.ts'
import type { Breaks, Change, DryRun, Plan, Right, TouchedRows } from './plan.ts'
import type { Options } from './send.ts'

export type { Breaks, Change, DryRun, Plan, Right, TouchedRows }

/** As for items, but for relations; names that there are not are 422. */
export type RecordQuery = Options & {
  readonly fields?: readonly string[]
  readonly filter?: object
  readonly sort?: readonly object[]
  readonly limit?: number
  readonly offset?: number
  readonly meta?: readonly 'totalCount'[]
}

/** What there is to do with records of type `T`, which are made of `New` and changed by `Change`, with `O` besides. */
export type Records<T, New = never, Change = never, O = Options> = {
  list(query?: RecordQuery): Call<T[], { readonly meta?: { totalCount: number } }>
  get(id: string, options?: Options): Call<T>
  create(data: New, options?: Options): Call<T>
  update(id: string, data: Change, options?: O): Call<T>
  delete(id: string, options?: O): Call<void>
}

/** Of changes of rights: access tests may fail by them, which is 409 else. */
export type MayFail = Options & { readonly allow?: 'failingTests' | undefined }

export type WorkspaceRecord = { id: string; apiName: string; displayName: string | null }
export type Role = {
  id: string
  name: string
  description: string | null
  kind: 'administrator' | 'public' | 'custom'
  policies: string[]
}
export type Policy = { id: string; name: string; description: string | null; content: PolicyContent }
export type PolicyContent = { entitlements?: string[]; collections?: { [collection: string]: object } }
export type Member = {
  userId: string
  email: string
  fullName: string | null
  isService: boolean
  status: 'active' | 'suspended'
  roles: string[]
  createdAt: string
}
/** `token` is in the answer of `create` alone. */
export type Invitation = {
  id: string
  email: string
  workspace_roles: string[]
  invitedBy: string | null
  createdAt: string
  expiresAt: string
  token?: string
}
/** `key` is in the answer of `create` alone. */
export type ApiKey = {
  id: string
  name: string
  description: string | null
  active: boolean
  userId: string
  expiresAt: string | null
  createdAt: string
  lastUsedAt: string | null
  scope: KeyScope | null
  key?: string
}
/** An absent member limits nothing; `collections` has actions by name. */
export type KeyScope = {
  workspaces?: string[]
  entitlements?: string[]
  collections?: { [collection: string]: string[] }
  addresses?: string[]
}
export type ServiceAccount = {
  id: string
  name: string
  description: string | null
  status: 'active' | 'suspended'
  owner: string
  serviceAccountOwner: { id: string; email: string | null; fullName: string | null }
  roles: { workspace: string; roleId: string }[]
  createdAt: string
}
/** With an issuer the endpoints are null, and the other way round. */
export type Provider = {
  id: string
  name: string
  issuer: string | null
  authorizationEndpoint: string | null
  tokenEndpoint: string | null
  userinfoEndpoint: string | null
  emailsEndpoint: string | null
  claims: { subject: string; email: string; emailVerified: string } | null
  clientAuthentication: 'basic' | 'post' | null
  clientId: string
  scopes: string[]
  enabled: boolean
  autoJoin: { workspace: string; roleId: string } | null
  createdAt: string
}
export type Session = {
  readonly id: string
  readonly createdAt: string
  readonly lastUsedAt: string
  /** What a device called itself that was signed in by its code. */
  readonly name: string | null
  readonly userAgent: string | null
  readonly ip: string | null
  readonly current: boolean
}

/** `isSet`: to something else than its default. `value` is null where it may be a secret. */
export type Setting = { name: string; isSet: boolean; value: string | null }
/** A limit of null is none; a soft one is warned of. */
export type Limit = { limit: number | boolean | null; kind: 'hard' | 'soft' }
/** Of the instance, or of one workspace. */
export type LicenseReport = {
  status: string
  entitlements: { [entitlement: string]: Limit }
  usage: { [entitlement: string]: number | boolean }
}

export type AuditEntry = {
  id: string
  time: string
  action: string
  label: string
  outcome: string
  actorType: string
  actorId: string | null
  actorEmail: string | null
  workspaceId: string | null
  targetType: string | null
  targetId: string | null
  ip: string | null
  payload: object
}
export type AuditAction = { action: string; label: string }
export type ModelFile = { version: number; collections?: Record<string, object>; [member: string]: unknown }
type ActionRights = 'all' | 'none' | { readonly access: 'custom'; readonly fields: readonly string[] }
/** Collections with which nothing may be done are left out. */
export type Access = {
  readonly entitlements: readonly string[]
  readonly collections: {
    readonly [name: string]: Readonly<Record<'read' | 'create' | 'update' | 'delete', ActionRights>>
  }
  /** Those of collections that are no system collections. */
  readonly ids: { readonly [name: string]: string }
}
type Principal = { readonly userId: string } | { readonly roleIds: readonly string[] } | { readonly anonymous: true }
/** Of whom, and what; `key` is a value, or an object of the fields of a key. */
export type AccessQuestion = Principal & {
  readonly collection: string
  readonly action: 'read' | 'create' | 'update' | 'delete'
  readonly key?: string | number | boolean | object
  readonly field?: string
}
export type ExplainedAccess = {
  /** Null where it depends on who has the roles. */
  readonly allowed: boolean | null
  readonly policies: readonly {
    readonly id: string
    readonly name: string
    readonly allows: boolean | null
    readonly reason?: 'action' | 'filter' | 'field' | 'user'
    readonly condition?: object
  }[]
}
/** What is going to be there, by ids; null for what is deleted. */
export type PlannedRights = {
  readonly policies?: { readonly [id: string]: { readonly content: object } | null }
  readonly roles?: { readonly [id: string]: { readonly policies: readonly string[] } | null }
  readonly members?: { readonly [id: string]: { readonly roles: readonly string[] } | null }
}
/** `fields` is absent for all of them; `items` says of a change that it is of every item afterwards (`all`), or was before (`some`). Of how many active members, the first of them, and whoever has no credential. */
export type RightsEffect = (
  | { readonly entitlement: string }
  | {
      readonly collection: string
      readonly action: 'read' | 'create' | 'update' | 'delete'
      readonly fields?: readonly string[]
      /** Of what is granted; of what is changed where it is, or was, every item without a condition. */
      readonly items?: 'all' | 'some'
    }
) & { readonly members: number; readonly userIds: readonly string[]; readonly isAnonymous: boolean }
export type RightsEffects = Readonly<Record<'granted' | 'revoked' | 'changed', readonly RightsEffect[]>> & {
  /** What access tests would say; null for what is not told to the caller. */
  readonly tests: readonly { readonly id: string; readonly name: string; readonly passed: boolean | null }[]
}
/** What is expected of rights. `as` is `user:` or `role:` with an id, or `anonymous`. */
export type NewAccessTest = {
  readonly name: string
  readonly as: string
  readonly collection: string
  readonly action: 'read' | 'create' | 'update' | 'delete'
  readonly key?: string | number | boolean | object
  readonly field?: string
  readonly filter?: object
  readonly expect: { readonly allowed: boolean; readonly fields?: readonly string[]; readonly count?: number }
}
export type AccessTest = NewAccessTest & { readonly id: string }
export type Operation = { readonly kind: string; readonly data: object }

type Named = { readonly name: string; readonly description?: string | null }

/** The model of the client's workspace. */
export function schema(db: Requesting) {
  return {
    /** What there is, and everything that items can be asked (docs/manifest.md); `usable`: of what the caller can use, for any caller. */
    manifest: (options: Options & { readonly collections?: readonly string[]; readonly usable?: boolean } = {}) => {
      const { collections, usable, ...given } = options
      const query = { ...(collections && { collections: collections.join() }), ...(usable && { usable }) }
      return db.$request<object>('GET', 'schema', { ...given, query })
    },
    /** All operations are run or none; with the `plan` of a dry run none where the model is another by now (409). */
    migrate: (operations: readonly Operation[], options: Options & { readonly plan?: string } = {}): Call<void> => {
      const { plan, ...given } = options
      const body = { operations, ...(plan !== undefined && { plan }) }
      return db.$request('POST', 'schema/migrate', { ...given, body })
    },
    /** What `migrate` would do. */
    dryRun: (operations: readonly Operation[], options?: Options) =>
      under<DryRun>(
        db.$request('POST', 'schema/migrate', { ...options, body: { operations }, query: { dryRun: true } }),
      ),
    /** The model as a file, canonical; `ids: false` without the lines that say who is who. */
    model: (options: Options & { readonly ids?: boolean } = {}) => {
      const { ids, ...given } = options
      return db.$request<ModelFile>('GET', 'schema/model', { ...given, ...(ids !== undefined && { query: { ids } }) })
    },
    /** What `apply` would do. */
    plan: (model: object, options?: Options) =>
      under<Plan>(db.$request('POST', 'schema/plan', { ...options, body: { model } })),
    /** Makes the workspace what the file says; refused where it is no longer as the plan has it. */
    apply: (
      model: object,
      plan: Pick<Plan, 'plan'>,
      options: Options & { readonly allow?: readonly ('drop' | 'failingTests')[] } = {},
    ) => {
      const { allow, ...given } = options
      const body = { model, plan: plan.plan, ...(allow !== undefined && { allow }) }
      return under<Pick<Plan, 'changes'>>(db.$request('POST', 'schema/apply', { ...given, body }))
    },
  }
}

/** Who may do what in the client's workspace. */
export function workspace(db: Requesting) {
  type NewRole = Named & { readonly policies?: readonly string[] }
  type NewPolicy = Named & { readonly content: PolicyContent }
  type NewInvitation = {
    readonly email: string
    readonly workspace_roles?: readonly string[]
    readonly expiresIn?: string
  }
  type MemberChange = { readonly roles?: readonly string[]; readonly status?: 'active' | 'suspended' }
  return {
    roles: records(db, 'roles') as Records<Role, NewRole, Partial<NewRole>, MayFail>,
    policies: records(db, 'policies') as Records<Policy, NewPolicy, Partial<NewPolicy>, MayFail>,
    members: records(db, 'members') as Pick<
      Records<Member, never, MemberChange, MayFail>,
      'list' | 'update' | 'delete'
    >,
    invitations: records(db, 'invitations') as Pick<Records<Invitation, NewInvitation>, 'list' | 'create' | 'delete'>,
    /** What the caller may do. */
    access: (options?: Options) => under<Access>(db.$request('GET', 'access', options)),
    /** Which of somebody's policies allow something, and why the others do not. */
    explain: (question: AccessQuestion, options?: Options) =>
      under<ExplainedAccess>(db.$request('POST', 'access/explain', { ...options, body: question })),
    /** Whom a change would give or take what; it is not made. */
    effect: (planned: PlannedRights, options?: Options) =>
      under<RightsEffects>(db.$request('POST', 'access/effect', { ...options, body: planned })),
    tests: records(db, 'access/tests') as Pick<Records<AccessTest, NewAccessTest>, 'create' | 'delete'> & {
      list(options?: Options): Call<AccessTest[]>
    },
    auditLog: records(db, 'audit-log') as Pick<Records<AuditEntry>, 'list'>,
    auditActions: (options?: Options) => under<AuditAction[]>(db.$request('GET', 'audit-log/actions', options)),
    license: (options?: Options) => under<LicenseReport>(db.$request('GET', 'license', options)),
  }
}

const ownSessions = '/api/system/users/me/sessions'

/** The instance. */
export function system(db: Requesting) {
  type NewWorkspace = { readonly apiName: string; readonly displayName?: string }
  type NewKey = Named & { readonly userId?: string; readonly expiresIn?: string; readonly scope?: object }
  type KeyChange = Partial<Named> & { readonly active?: boolean }
  type UserChange = {
    readonly fullName?: string | null
    readonly status?: User['status']
    readonly isAdministrator?: boolean
  }
  type NewAccount = Named & {
    readonly roles?: readonly { readonly workspace: string; readonly roleId: string }[]
    readonly owner?: string
  }
  type NewProvider = {
    readonly name: string
    readonly clientId: string
    readonly clientSecret: string
    readonly [member: string]: unknown
  }
  return {
    info: (options?: Options) =>
      db.$request<{ name: string; version?: string; mail?: 'log' | 'none' }>('GET', '/api/system/info', options),
    workspaces: records(db, '/api/system/workspaces') as Records<
      WorkspaceRecord,
      NewWorkspace,
      { readonly displayName: string | null }
    >,
    users: records(db, '/api/system/users') as Omit<Records<User, never, UserChange>, 'create'>,
    apiKeys: records(db, '/api/system/api-keys') as Omit<Records<ApiKey, NewKey, KeyChange>, 'get'>,
    serviceAccounts: records(db, '/api/system/service-accounts') as Records<
      ServiceAccount,
      NewAccount,
      Partial<NewAccount>
    >,
    providers: records(db, '/api/system/providers') as Records<Provider, NewProvider, object>,
    auditLog: records(db, '/api/system/audit-log') as Pick<Records<AuditEntry>, 'list'>,
    auditActions: (options?: Options) =>
      under<AuditAction[]>(db.$request('GET', '/api/system/audit-log/actions', options)),
    /** Who asks. */
    me: {
      update: (change: { readonly fullName: string | null }, options?: Options) =>
        under<User>(db.$request('PATCH', '/api/system/users/me', { ...options, body: change })),
      sessions: (options?: Options) => under<Session[]>(db.$request('GET', ownSessions, options)),
      /** Ends that session, or all but the one that asks. */
      endSessions: (id?: string, options?: Options): Call<void> =>
        db.$request('DELETE', id === undefined ? ownSessions : `${ownSessions}/${encodeURIComponent(id)}`, options),
    },
    settings: (options?: Options) => under<Setting[]>(db.$request('GET', '/api/system/settings', options)),
    /** What it allows, and what is used of it. */
    license: (options?: Options) => under<LicenseReport>(db.$request('GET', '/api/system/license', options)),
    /** Asks the licensing service now; 409 where the license is not one by key. */
    refreshLicense: (options?: Options) =>
      under<LicenseReport>(db.$request('POST', '/api/system/license/refresh', { ...options, body: {} })),
    /** Sends a mail to oneself. */
    testMail: (options?: Options): Call<void> => db.$request('POST', '/api/system/mail/test', { ...options, body: {} }),
  }
}

function records(db: Requesting, path: string): Records<unknown, unknown, unknown, MayFail> {
  const allowing = ({ allow, ...options }: MayFail = {}) => ({ ...options, ...(allow && { query: { allow } }) })
  const at = (id: string) => `${path}/${encodeURIComponent(id)}`
  return {
    list(query = {}) {
      const { options, parameters } = split(query)
      return under(db.$request('GET', path, { ...options, query: parameters }))
    },
    get: (id, options) => under(db.$request('GET', at(id), options)),
    create: (data, options) => under(db.$request('POST', path, { ...options, body: data })),
    update: (id, data, options) => under(db.$request('PATCH', at(id), { ...allowing(options), body: data })),
    delete: (id, options) => under(db.$request('DELETE', at(id), allowing(options))),
  }
}
