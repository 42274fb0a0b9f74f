/** What a data source was created with, sealed, beside its record in the model. */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports.ts'
import { metaSchema } from './installation.ts'
import { ident, param, sql, statement } from './statements.ts'

type Place = { readonly workspace: string; readonly sourceId: string }

/** For the batch that saves the record of the source, after it. */
export function sealSource({ workspace, sourceId }: Place, sealed: string): Statement {
  return statement(sql`
    update ${ident(metaSchema(workspace), 'data_source')} set sealed_credentials = ${param(sealed)}
    where id = ${param(sourceId)}::uuid`)
}

/** Undefined where there is no such source, or nothing was sealed with it. */
export async function loadSealedSource(
  database: SqlDriver,
  { workspace, sourceId }: Place,
): Promise<string | undefined> {
  const [[sealed] = []] = await database.query(
    statement(sql`
      select sealed_credentials from ${ident(metaSchema(workspace), 'data_source')}
      where id = ${param(sourceId)}::uuid`),
  )
  return sealed ?? undefined
}
