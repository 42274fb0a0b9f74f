/** Policies of a workspace, and which parts of its model each one names. */

import type { PolicyContent } from '../core/access/policy.ts'
import { ServiceError } from '../core/error.ts'
import { parseJson } from '../core/exact-json.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { integer, literal, type Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { json, param, sql, statement, uuids } from './statements.ts'

export type PolicyRow = {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly content: PolicyContent
}

/** Returns the policies of the workspace among `ids`. */
export async function loadPolicies(
  database: SqlDriver,
  workspaceId: string,
  ids: readonly string[],
): Promise<readonly PolicyRow[]> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'description', p.description,
        'content', p.content)), '[]')::text
      from service.policy p
      where p.workspace_id = ${param(workspaceId)}::uuid and p.id in (${uuids(ids)})`),
  )
  return parseJson(text ?? '[]') as PolicyRow[]
}

/** `uses` are the ids of collections and fields that the content names. */
export function insertPolicy(workspaceId: string, policy: PolicyRow, uses: readonly string[]): readonly Statement[] {
  return [
    statement(sql`
      insert into service.policy (id, workspace_id, name, description, content)
      values (${param(policy.id)}::uuid, ${param(workspaceId)}::uuid, ${param(policy.name)},
        ${param(policy.description)}, ${json(policy.content)}::jsonb)`),
    insertUses(policy.id, uses),
  ]
}

/** Replaces name, description, content and `uses` of a policy. */
export function updatePolicy(policy: PolicyRow, uses: readonly string[]): readonly Statement[] {
  return [
    statement(sql`
      update service.policy set name = ${param(policy.name)}, description = ${param(policy.description)},
        content = ${json(policy.content)}::jsonb
      where id = ${param(policy.id)}::uuid`),
    statement(sql`delete from service.policy_use where policy_id = ${param(policy.id)}::uuid`),
    insertUses(policy.id, uses),
  ]
}

/** Bytes of all policies of a workspace together. Whoever holds them loads them all, to do anything. */
const MOST_BYTES = 4 * 1024 ** 2

/** Wraps `writes` so that their transaction fails where they make the policies of the workspace larger than they may be. */
export function writesWithinBytes(workspaceId: string, writes: readonly Statement[]): readonly Statement[] {
  const bytes = sql`(
    select coalesce(sum(octet_length(p.content::text)), 0) from service.policy p
    where p.workspace_id = ${param(workspaceId)}::uuid)`
  return [
    statement(sql`select set_config('service.policies', ${bytes}::text, true)`),
    ...writes,
    statement(sql`
      select case when x.bytes > greatest(${integer(MOST_BYTES)}, current_setting('service.policies')::bigint)
        then (${literal(TOO_LARGE)} || x.bytes)::int end
      from (select ${bytes} as bytes) x`),
  ]
}

const TOO_LARGE = 'service:policies'

/** Returns the 422 of a batch that failed by that statement; undefined for every other error. */
export function policiesFault(cause: unknown): ServiceError | undefined {
  if (!(cause instanceof SqlFault && cause.message.includes(TOO_LARGE))) return undefined
  return new ServiceError('invalid', `The policies of a workspace may have at most ${MOST_BYTES} bytes together`)
}

export function deletePolicy(id: string): Statement {
  return statement(sql`delete from service.policy where id = ${param(id)}::uuid`)
}

function insertUses(policyId: string, uses: readonly string[]): Statement {
  return statement(sql`
    insert into service.policy_use (policy_id, target_id)
    select ${param(policyId)}::uuid, u.id from (${uuids(uses)}) u (id)`)
}

/** Ids of collections and fields, as far as policies name them, or compare them by a filter or a validation. */
export type Uses = { readonly targetIds: readonly string[]; readonly how: 'named' | 'compared' }

/** Returns which of `targetIds` policies of the workspace use so, with the names and ids of those policies. */
export async function findUses(
  database: SqlDriver,
  workspaceId: string,
  uses: Uses,
): Promise<readonly { readonly targetId: string; readonly policy: string; readonly policyId: string }[]> {
  if (uses.targetIds.length === 0) return []
  const rows = await database.query(
    statement(sql`select u.target_id, p.name, p.id ${usesIn(workspaceId, uses)} order by p.name, u.target_id`),
  )
  return rows.map(([targetId, policy, policyId]) => ({
    targetId: targetId ?? '',
    policy: policy ?? '',
    policyId: policyId ?? '',
  }))
}

/** Returns which of `ids` policies of the workspace, or the scopes of keys, name. */
export async function findNamed(database: SqlDriver, workspaceId: string, ids: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await database.query(statement(sql`select u.id ${namedIn(workspaceId, ids)}`))
  return rows.flatMap(([id]) => id ?? [])
}

/** Builds a statement that fails its transaction if they name one of `ids`. */
export function assertUnnamedStatement(workspaceId: string, ids: readonly string[]): Statement {
  return statement(sql`select 1 / (case when exists (select 1 ${namedIn(workspaceId, ids)}) then 0 else 1 end)`)
}

function namedIn(workspaceId: string, ids: readonly string[]) {
  return sql`
    from (${uuids(ids)}) u (id)
    where exists (select 1 from service.policy_use n join service.policy p on p.id = n.policy_id
        where p.workspace_id = ${param(workspaceId)}::uuid and n.target_id = u.id)
      or exists (select 1 from service.api_key k
        where k.scope #> array['collections', ${param(workspaceId)}, u.id::text] is not null)`
}

/** Builds a statement that fails its transaction if a policy of the workspace uses one of `targetIds` so. */
export function assertUnusedStatement(workspaceId: string, uses: Uses): Statement {
  return statement(sql`
    select 1 / (case when exists (select 1 ${usesIn(workspaceId, uses)}) then 0 else 1 end)`)
}

/** What is compared is a member of the content; where it is only selected, its id is a value. */
function usesIn(workspaceId: string, { targetIds, how }: Uses) {
  const isCompared = sql` and jsonb_path_exists(p.content, format('$.**."%s"', u.target_id)::jsonpath)`
  return sql`
    from service.policy_use u join service.policy p on p.id = u.policy_id
    where p.workspace_id = ${param(workspaceId)}::uuid and u.target_id in (${uuids(targetIds)})
      ${how === 'compared' ? isCompared : sql``}`
}
