/** Policies of a workspace, and which parts of its model each one names. */
import type { PolicyContent } from '../core/access/policy.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports.ts'
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
  return JSON.parse(text ?? '[]') as PolicyRow[]
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

export function deletePolicy(id: string): Statement {
  return statement(sql`delete from service.policy where id = ${param(id)}::uuid`)
}

function insertUses(policyId: string, uses: readonly string[]): Statement {
  return statement(sql`
    insert into service.policy_use (policy_id, target_id)
    select ${param(policyId)}::uuid, u.id from (${uuids(uses)}) u (id)`)
}

/** Returns which of `targetIds` are named by policies of the workspace, with the names and ids of those policies. */
export async function findUses(
  database: SqlDriver,
  workspaceId: string,
  targetIds: readonly string[],
): Promise<readonly { readonly targetId: string; readonly policy: string; readonly policyId: string }[]> {
  const rows = await database.query(
    statement(sql`
      select u.target_id, p.name, p.id from service.policy_use u join service.policy p on p.id = u.policy_id
      where p.workspace_id = ${param(workspaceId)}::uuid and u.target_id in (${uuids(targetIds)})
      order by p.name, u.target_id`),
  )
  return rows.map(([targetId, policy, policyId]) => ({
    targetId: targetId ?? '',
    policy: policy ?? '',
    policyId: policyId ?? '',
  }))
}

/** Builds a statement that fails its transaction if a policy of the workspace names one of `targetIds`. */
export function assertUnusedStatement(workspaceId: string, targetIds: readonly string[]): Statement {
  return statement(sql`
    select 1 / (case when exists (
      select 1 from service.policy_use u join service.policy p on p.id = u.policy_id
      where p.workspace_id = ${param(workspaceId)}::uuid and u.target_id in (${uuids(targetIds)})) then 0 else 1 end)`)
}
