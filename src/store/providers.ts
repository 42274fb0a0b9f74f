/** Sign-in providers. The client secret is stored sealed. */
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { json, param, sql, statement } from './statements.ts'

/** Names of the claims in an identity token or a userinfo response that identify a person. */
export type ProviderClaims = { readonly subject: string; readonly email: string; readonly emailVerified: string }

export type ProviderServer =
  /** OpenID Connect: the other endpoints come from the issuer's discovery document. The subject is always `sub`. */
  | { readonly kind: 'openid'; readonly issuer: string; readonly claims: ProviderClaims }
  | {
      readonly kind: 'oauth2'
      readonly authorizationEndpoint: string
      readonly tokenEndpoint: string
      readonly userinfoEndpoint: string
      /** Returns a list of `{email, verified, primary}`, for providers whose userinfo omits verified addresses. */
      readonly emailsEndpoint: string | null
      readonly claims: ProviderClaims
      readonly clientAuthentication: 'basic' | 'post'
    }

/** The role that new users get, and its workspace. */
export type AutoJoin = {
  readonly workspaceId: string
  readonly workspace: string
  readonly roleId: string
  readonly roleName: string
}

export type ProviderRow = {
  readonly id: string
  readonly name: string
  readonly server: ProviderServer
  readonly clientId: string
  readonly sealedClientSecret: string
  readonly scopes: readonly string[]
  readonly enabled: boolean
  readonly autoJoin: AutoJoin | null
}

export async function findProvider(database: SqlDriver, name: string): Promise<ProviderRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select json_build_object('id', p.id, 'name', p.name, 'server', p.server, 'clientId', p.client_id,
        'sealedClientSecret', p.sealed_client_secret, 'scopes', p.scopes, 'enabled', p.enabled,
        'autoJoin', case when r.id is not null then json_build_object('workspaceId', w.id, 'workspace', w.api_name,
          'roleId', r.id, 'roleName', r.name) end)::text
      from service.provider p
      left join service.role r on r.id = p.auto_join_role_id
      left join service.workspace w on w.id = r.workspace_id
      where p.name = ${param(name)}`),
  )
  return row === undefined ? undefined : (parseJson(row[0] ?? 'null') as ProviderRow)
}

/** Lists the names of enabled providers, sorted. */
export async function listEnabledProviders(database: SqlDriver): Promise<readonly string[]> {
  const rows = await database.query(statement(sql`select name from service.provider where enabled order by name`))
  return rows.map(([name]) => name ?? '')
}

export type NewProvider = Omit<ProviderRow, 'autoJoin'> & { readonly autoJoinRoleId: string | null }

export function insertProvider(provider: NewProvider): Statement {
  return statement(sql`
    insert into service.provider (id, name, server, client_id, sealed_client_secret, scopes, enabled, auto_join_role_id)
    values (${param(provider.id)}::uuid, ${param(provider.name)}, ${json(provider.server)}::jsonb,
      ${param(provider.clientId)}, ${param(provider.sealedClientSecret)}, ${json(provider.scopes)}::jsonb,
      ${param(String(provider.enabled))}::boolean, ${param(provider.autoJoinRoleId)}::uuid)`)
}

export function updateProvider(provider: NewProvider): Statement {
  return statement(sql`
    update service.provider set server = ${json(provider.server)}::jsonb, client_id = ${param(provider.clientId)},
      sealed_client_secret = ${param(provider.sealedClientSecret)}, scopes = ${json(provider.scopes)}::jsonb,
      enabled = ${param(String(provider.enabled))}::boolean, auto_join_role_id = ${param(provider.autoJoinRoleId)}::uuid
    where id = ${param(provider.id)}::uuid`)
}

/** Deletes the provider and the identities of its users; their accounts stay. */
export function deleteProvider(id: string): Statement {
  return statement(sql`delete from service.provider where id = ${param(id)}::uuid`)
}
