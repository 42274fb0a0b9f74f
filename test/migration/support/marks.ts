/** When a migration of a source that is not the system database has begun, as a test that is to kill it has to know. */
import type { SqlDriver } from '../../../src/ports/database.ts'

/** Resolves once the source is marked, behind which its changes begin, or what was sent has ended. */
export function marked(database: SqlDriver, sourceId: string, sending: Promise<unknown>): Promise<void> {
  const question = { text: 'select 1 from service.source_mark where source_id = $1::uuid', params: [sourceId] }
  return seen(async () => (await database.query(question)).length > 0, sending)
}

/** Asks again and again until it is so, or what was sent has ended. */
export async function seen(isSo: () => Promise<boolean>, sending: Promise<unknown>): Promise<void> {
  let isOver = false
  void sending.then(() => {
    isOver = true
  })
  while (!isOver && !(await isSo()));
}
