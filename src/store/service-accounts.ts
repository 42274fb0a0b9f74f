/** Service accounts: user records that belong to a person and sign in by API key only. */
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { isProven } from './accounts.ts'
import type { RoleKind } from './roles.ts'
import { param, sql, statement } from './statements.ts'

export type ServiceAccountRow = {
  readonly name: string
  readonly description: string | null
  readonly ownerId: string
  /** The owner's e-mail address is proven. */
  readonly isProven: boolean
  readonly roles: readonly HeldRole[]
}

export type HeldRole = {
  readonly workspaceId: string
  readonly workspace: string
  readonly id: string
  readonly name: string
  readonly kind: RoleKind
}

/** Loads a service account with its roles in all workspaces; undefined if it does not exist. */
export async function loadServiceAccount(database: SqlDriver, id: string): Promise<ServiceAccountRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select json_build_object('name', u.full_name, 'description', u.description,
        'ownerId', u.service_account_owner_id, 'isProven', ${isProven(sql`u`)},
        'roles', (
          select coalesce(json_agg(json_build_object('workspaceId', w.id, 'workspace', w.api_name, 'id', r.id,
            'name', r.name, 'kind', r.kind) order by w.api_name, r.id), '[]'::json)
          from service.member_role mr
          join service.role r on r.id = mr.role_id
          join service.workspace w on w.id = mr.workspace_id
          where mr.user_id = u.id))::text
      from service."user" u where u.id = ${param(id)}::uuid and u.is_service`),
  )
  return row === undefined ? undefined : (parseJson(row[0] ?? 'null') as ServiceAccountRow)
}

/** Lists the service accounts of an owner by id and name. */
export async function ownedServiceAccounts(
  database: SqlDriver,
  ownerId: string,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const rows = await database.query(
    statement(sql`
      select id, full_name from service."user" where service_account_owner_id = ${param(ownerId)}::uuid order by id`),
  )
  return rows.map(([id, name]) => ({ id: id ?? '', name: name ?? '' }))
}

type Written = Pick<ServiceAccountRow, 'name' | 'description' | 'ownerId'>

export function insertServiceAccount(id: string, account: Written): Statement {
  return statement(sql`
    insert into service."user" (id, full_name, description, is_service, service_account_owner_id)
    values (${param(id)}::uuid, ${param(account.name)}, ${param(account.description)}, true,
      ${param(account.ownerId)}::uuid)`)
}

/** Writes what is sent alone: somebody else may change the rest meanwhile. */
export function updateServiceAccount(id: string, change: Partial<Written>): Statement {
  return statement(sql`
    update service."user" set full_name = coalesce(${param(change.name ?? null)}, full_name),
      description = case when ${param(String(change.description !== undefined))}::boolean
        then ${param(change.description ?? null)} else description end,
      service_account_owner_id = coalesce(${param(change.ownerId ?? null)}::uuid, service_account_owner_id)
    where id = ${param(id)}::uuid and is_service`)
}
