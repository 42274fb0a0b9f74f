/** The bytes of files that are of no file: what `loose_content` of a workspace remembers until they are removed. */
import type { Instant, SqlDriver } from '../ports.ts'
import { metaSchema } from './installation.ts'
import { ident, param, type Sql, sql, statement, timestamp } from './statements.ts'

/** Before the first byte of an upload is stored. */
export async function beginContent(database: SqlDriver, workspace: string, key: string): Promise<void> {
  await database.query(statement(sql`insert into ${tableOf(workspace)} (key) values (${param(key)}::uuid)`))
}

/**
 * Gives up an upload: no file can take its bytes any longer. Returns false where one has, or nothing is known of it, and
 * nobody may remove the bytes then.
 */
export async function giveUpContent(database: SqlDriver, workspace: string, key: string): Promise<boolean> {
  const given = await database.query(
    statement(sql`
      update ${tableOf(workspace)} set file = '{}' where key = ${param(key)}::uuid and file is null returning key`),
  )
  return given.length > 0
}

/**
 * The bytes of a workspace that nothing needs any longer: uploads since before `uploads`, which it gives up, and what was
 * left by files before `left`.
 */
export async function expiredContents(
  database: SqlDriver,
  workspace: string,
  { uploads, left }: { readonly uploads: Instant; readonly left: Instant },
): Promise<readonly string[]> {
  const table = tableOf(workspace)
  const [, rows = []] = await database.batch([
    statement(sql`update ${table} set file = '{}' where file is null and since < ${timestamp(uploads)}`),
    statement(sql`
      select key from ${table}
      where (file = '{}' or since < ${timestamp(left)}) and file is not null order by since limit 1000`),
  ])
  return rows.flatMap(([key]) => key ?? [])
}

/** Once the bytes are removed. */
export async function forgetContent(database: SqlDriver, workspace: string, key: string): Promise<void> {
  await database.query(
    statement(sql`delete from ${tableOf(workspace)} where key = ${param(key)}::uuid and file is not null`),
  )
}

/** How many bytes the files of a workspace have together. */
export async function bytesOfFiles(database: SqlDriver, workspace: string): Promise<number> {
  const files = ident(metaSchema(workspace), 'file')
  const [[bytes] = []] = await database.query(statement(sql`select coalesce(sum(file_size), 0) from ${files}`))
  return Number(bytes)
}

/** Workspaces that are deleted, of whose files some bytes may be left. */
export async function deletedWorkspaces(database: SqlDriver): Promise<readonly string[]> {
  const rows = await database.query(statement(sql`select id from service.deleted_workspace`))
  return rows.flatMap(([id]) => id ?? [])
}

/** Once their bytes are removed. */
export async function forgetWorkspace(database: SqlDriver, id: string): Promise<void> {
  await database.query(statement(sql`delete from service.deleted_workspace where id = ${param(id)}::uuid`))
}

function tableOf(workspace: string): Sql {
  return ident(metaSchema(workspace), 'loose_content')
}
