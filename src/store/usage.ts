/**
 * Usage per license entitlement, one SQL expression each, for the start, the license endpoints and the check around a
 * write. The check compares usage before and after: a write that raises usage above a hard limit fails at the end of
 * its batch and is rolled back.
 */

import type { ServiceError } from '../core/error.ts'
import { parseJson } from '../core/exact-json.ts'
import { entitlementNames, entitlements, type LicenseEntitlement } from '../core/license/license.ts'
import { type Count, limitExceeded, type Violation, violation } from '../core/license/usage.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { literal, type Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { empty, join, param, type Sql, sql, statement } from './statements.ts'

/** Each is a number; for entitlements per workspace, that of workspace `w`. */
const measures: Readonly<Record<LicenseEntitlement, Sql>> = {
  workspaces: sql`(select count(*) from service.workspace)`,
  service_accounts: sql`(select count(*) from service."user" where is_service)`,
  sso_enabled: sql`(select count(*) from (select 1 from service.provider limit 1) used)`,
  seats: sql`(
    (select count(*) from service.member m join service."user" u on u.id = m.user_id
      where m.workspace_id = w.id and m.status = 'active' and not u.is_service)
    + (select count(*) from service.invitation i where i.workspace_id = w.id and i.expires_at > now()))`,
  custom_roles: sql`(select count(*) from service.role r where r.workspace_id = w.id and r.kind = 'custom')`,
  custom_policies: sql`(select count(*) from service.policy p where p.workspace_id = w.id)`,
  custom_permission_rules_enabled: sql`(
    select count(*) from (
      select 1 from service.policy p, jsonb_each(p.content -> 'collections') c, jsonb_each(c.value) a
      where p.workspace_id = w.id and jsonb_typeof(a.value) = 'object' and (
        jsonb_typeof(a.value -> 'fields') = 'array'
        or a.value -> 'filter' <> '{}' or a.value -> 'check' <> '{}' or a.value -> 'validation' <> '{}')
      limit 1) used)`,
}

/** Returns every count of the instance; with a workspace, its counts and those of the instance. */
export async function loadCounts(database: SqlDriver, workspaceId?: string): Promise<readonly Count[]> {
  const [[text] = []] = await database.query(
    statement(sql`
      select json_agg(json_build_object('entitlement', n.entitlement, 'workspace', n.workspace, 'count', n.amount))::text
      from (${countsOf(entitlementNames, workspaceId)}) n`),
  )
  return parseJson(text ?? '[]') as Count[]
}

/** A hard limit: the highest count allowed. */
export type UsageCeiling = { readonly entitlement: LicenseEntitlement; readonly most: number }

/**
 * Wraps `writes` in a check. Their batch must begin with a statement that locks out others who raise the same usage
 * (the access version); otherwise two concurrent writes would not see each other.
 */
export function writesWithinLimits(
  ceilings: readonly UsageCeiling[],
  workspaceId: string | undefined,
  writes: readonly Statement[],
): readonly Statement[] {
  if (ceilings.length === 0) return writes
  const counts = countsOf(
    ceilings.map(({ entitlement }) => entitlement),
    workspaceId,
  )
  const most = ceilings.map((ceiling) => sql`(${literal(ceiling.entitlement)}, ${param(String(ceiling.most))}::bigint)`)
  return [
    statement(sql`
      select set_config('service.usage',
        coalesce((select json_object_agg(n.entitlement, n.amount)::text from (${counts}) n), '{}'), true)`),
    ...writes,
    statement(sql`
      select case when above.counts is null then 1 else (${literal(MARKER)} || above.counts)::int end
      from (
        select json_agg(json_build_object('entitlement', n.entitlement, 'workspace', n.workspace,
          'count', n.amount, 'most', l.most))::text as counts
        from (${counts}) n join (values ${join(most)}) l (entitlement, most) on l.entitlement = n.entitlement
        where n.amount > l.most
          and n.amount > coalesce((current_setting('service.usage', true)::json ->> n.entitlement)::bigint, 0)
      ) above`),
  ]
}

const MARKER = 'service:license:'

/** Converts the failure of a batch with `writesWithinLimits` into its 402 error; undefined for every other error. */
export function limitFault(cause: unknown): ServiceError | undefined {
  if (!(cause instanceof SqlFault)) return undefined
  const [, text] = new RegExp(`${MARKER}(\\[.*\\])`).exec(cause.message) ?? []
  if (text === undefined) return undefined
  const counts = parseJson(text) as (Count & { readonly most: number })[]
  const violations = counts.map((count) => violation(count, count.most))
  return isFilled(violations) ? limitExceeded(violations) : undefined
}

function isFilled(list: readonly Violation[]): list is readonly [Violation, ...Violation[]] {
  return list.length > 0
}

/** Builds rows of entitlement, workspace (by name, null for the instance) and count. */
function countsOf(names: readonly LicenseEntitlement[], workspaceId: string | undefined): Sql {
  const rows = (scope: 'organization' | 'workspace') =>
    names
      .filter((name) => entitlements[name].scope === scope)
      .map((name) => sql`(${literal(name)}, ${measures[name]}::bigint)`)
  const [ofInstance, ofWorkspace] = [rows('organization'), rows('workspace')]
  const which = workspaceId === undefined ? empty : sql`where w.id = ${param(workspaceId)}::uuid`
  const parts = [
    ...(ofInstance.length === 0
      ? []
      : [sql`select o.*, null::text as workspace from (values ${join(ofInstance)}) o (entitlement, amount)`]),
    ...(ofWorkspace.length === 0
      ? []
      : [
          sql`select p.*, w.api_name as workspace from service.workspace w, lateral (values ${join(ofWorkspace)}) p (entitlement, amount) ${which}`,
        ]),
  ]
  return join(parts, sql` union all `)
}
