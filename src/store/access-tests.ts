/** Access tests of a workspace: what is expected of somebody's rights, by ids of its model. */

import type { Expectation } from '../core/access/expectation.ts'
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, json, param, sql, statement } from './statements.ts'

/** Of neither a user nor a role, it is of whoever has no credential. */
export type AccessTestRow = {
  readonly id: string
  readonly name: string
  readonly collectionId: string
  readonly userId: string | null
  readonly roleId: string | null
  readonly expectation: Expectation
}

/** In the order of their names. */
export async function loadAccessTests(database: SqlDriver, workspace: string): Promise<readonly AccessTestRow[]> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(json_build_object('id', id, 'name', name, 'collectionId', collection_id, 'userId', user_id,
        'roleId', role_id, 'expectation', expectation) order by name), '[]')::text
      from ${tableOf(workspace)}`),
  )
  return parseJson(text ?? '[]') as readonly AccessTestRow[]
}

export function insertAccessTest(workspace: string, test: AccessTestRow): Statement {
  return statement(sql`
    insert into ${tableOf(workspace)} (id, name, collection_id, user_id, role_id, expectation)
    values (${param(test.id)}::uuid, ${param(test.name)}, ${param(test.collectionId)}::uuid, ${param(test.userId)}::uuid,
      ${param(test.roleId)}::uuid, ${json(test.expectation)}::jsonb)`)
}

export function deleteAccessTest(workspace: string, id: string): Statement {
  return statement(sql`delete from ${tableOf(workspace)} where id = ${param(id)}::uuid`)
}

function tableOf(workspace: string) {
  return ident(metaSchema(workspace), 'access_test')
}
