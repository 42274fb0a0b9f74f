/** The bytes of files that are of no file: what `loose_content` of a workspace remembers until they are removed. */
import { parseJson } from '../core/exact-json.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { PART_SIZE } from '../ports/files.ts'
import { metaSchema } from './installation.ts'
import { ident, json, milliseconds, param, type Sql, sql, statement, timestamp } from './statements.ts'

/** A file that is sent in parts, by whom. */
export type Upload = {
  readonly userId: string
  readonly fileName: string
  readonly fileSize: number
  /** In base64 or base64url, where the sender said it. */
  readonly sha256?: string | undefined
}

/** Before the first byte of an upload is stored; `upload` where it comes in parts. */
export async function beginContent(
  database: SqlDriver,
  workspace: string,
  key: string,
  upload?: Upload,
): Promise<void> {
  const sent = upload === undefined ? sql`null` : sql`${json(upload)}::jsonb`
  await database.query(
    statement(sql`insert into ${tableOf(workspace)} (key, upload) values (${param(key)}::uuid, ${sent})`),
  )
}

/** An upload in parts that goes on, and when it began. */
export async function findUpload(
  database: SqlDriver,
  workspace: string,
  key: string,
): Promise<{ readonly upload: Upload; readonly since: Instant } | undefined> {
  const [row] = await database.query(
    statement(sql`
      select upload::text, ${milliseconds(sql`since`)} from ${tableOf(workspace)}
      where key = ${param(key)}::uuid and file is null and upload is not null`),
  )
  return row === undefined ? undefined : { upload: parseJson(row[0] ?? '{}') as Upload, since: Number(row[1]) }
}

/**
 * Milliseconds that a part counts as being stored for, and an upload as being completed, unless it is said again: that long it stands
 * in the way where a process has died.
 */
export const LEASE = 30_000

/** Before a part is stored, by a word of its own: returns false where the upload has ended or is being completed. */
export function beginPart(database: SqlDriver, workspace: string, key: string, put: string): Promise<boolean> {
  const others = sql`select jsonb_object_agg(p.key, p.value) from jsonb_each_text(puts) p where p.value::timestamptz > now()`
  return changesUpload(database, workspace, key, {
    set: sql`puts = coalesce((${others}), '{}') || ${leaseOf(put)}, completed_by = null`,
    where: isUncompleted,
  })
}

/** While it is being stored, more often than LEASE. */
export async function keepPart(database: SqlDriver, workspace: string, key: string, put: string): Promise<void> {
  await database.query(
    statement(sql`
      update ${tableOf(workspace)} set puts = puts || ${leaseOf(put)}
      where key = ${param(key)}::uuid and puts->>${param(put)} is not null`),
  )
}

/** Behind it; `number` where it was stored: then it counts. Returns whether the upload was given up. */
export async function endPart(
  database: SqlDriver,
  workspace: string,
  key: string,
  put: string,
  number?: number,
): Promise<boolean> {
  const stored = number === undefined ? sql`stored` : sql`stored + ${partRange(number)}`
  const [[isGivenUp] = []] = await database.query(
    statement(sql`
      update ${tableOf(workspace)} set puts = puts - ${param(put)}::text, stored = ${stored}
      where key = ${param(key)}::uuid returning file is not null`),
  )
  return isGivenUp === 't'
}

function leaseOf(put: string): Sql {
  return sql`jsonb_build_object(${param(put)}::text, ${leased})`
}

const leased = sql`now() + ${param(String(LEASE))}::int * interval '1 millisecond'`

/** Whether a part is being stored. */
const isStoring = sql`exists (select 1 from jsonb_each_text(puts) p where p.value::timestamptz > now())`

/** Whether nobody completes it: whoever did has died. */
const isUncompleted = sql`coalesce(completed_until < now(), true)`

/**
 * Keeps parts from changing for LEASE, by a word of the completion's own. Does not where a part is being stored (`storing`), nor where
 * somebody else does the same or there is no such upload (undefined).
 */
export async function beginCompletion(
  database: SqlDriver,
  workspace: string,
  key: string,
  completion: string,
): Promise<'begun' | 'storing' | undefined> {
  const table = tableOf(workspace)
  const upload = sql`key = ${param(key)}::uuid and file is null and upload is not null`
  const [[state] = []] = await database.query(
    statement(sql`
      with begun as (
        update ${table} set completed_by = ${param(completion)}::uuid, completed_until = ${leased}
        where ${upload} and not ${isStoring} and ${isUncompleted} returning key)
      select case when exists (select 1 from begun) then 'begun'
        when exists (select 1 from ${table} where ${upload} and ${isStoring}) then 'storing' end`),
  )
  return state === 'begun' || state === 'storing' ? state : undefined
}

/**
 * While it goes on, more often than LEASE. Returns false where it does so no longer: the upload was given up or completed, or, once this
 * was not said for so long, a part of it was stored or somebody else has begun to complete it.
 */
export function keepCompletion(
  database: SqlDriver,
  workspace: string,
  key: string,
  completion: string,
): Promise<boolean> {
  return changesUpload(database, workspace, key, {
    set: sql`completed_until = ${leased}`,
    where: sql`completed_by = ${param(completion)}::uuid`,
  })
}

/** Where no file was made of it: parts may be sent again. Returns false where there is no such upload any more. */
export function endCompletion(
  database: SqlDriver,
  workspace: string,
  key: string,
  completion: string,
): Promise<boolean> {
  const isOwn = sql`completed_by = ${param(completion)}::uuid`
  return changesUpload(database, workspace, key, {
    set: sql`completed_until = case when ${isOwn} then null else completed_until end`,
    where: sql`true`,
  })
}

async function changesUpload(
  database: SqlDriver,
  workspace: string,
  key: string,
  { set, where }: { readonly set: Sql; readonly where: Sql },
): Promise<boolean> {
  const changed = await database.query(
    statement(sql`
      update ${tableOf(workspace)} set ${set}
      where key = ${param(key)}::uuid and file is null and upload is not null and ${where} returning key`),
  )
  return changed.length > 0
}

/** What an item of ServiceFile is made of, with its bytes, by the names of its fields. */
export type StoredFile = {
  readonly fileName: string
  readonly fileSize: number
  readonly mediaType: string
  readonly contentKey: string
  /** SHA-256 in base64url. */
  readonly contentHash: string
}

/** A file whoever asks. */
export async function findFile(database: SqlDriver, workspace: string, id: string): Promise<StoredFile | undefined> {
  const files = ident(metaSchema(workspace), 'file')
  const [row] = await database.query(
    statement(sql`select to_jsonb(f)::text from ${files} f where id = ${param(id)}::uuid`),
  )
  return row === undefined ? undefined : storedFile(parseJson(row[0] ?? '{}') as FileColumns)
}

/** Who has sent the bytes of a file in parts; undefined for bytes that came otherwise or are of no file. */
export async function findUploader(database: SqlDriver, workspace: string, key: string): Promise<string | undefined> {
  const files = ident(metaSchema(workspace), 'file')
  const [row] = await database.query(
    statement(sql`select uploaded_by::text from ${files} where content_key = ${param(key)}::uuid`),
  )
  return row?.[0] ?? undefined
}

/** The latest state of a file that was deleted and whose bytes are there: all members of its item. */
export async function findDeletedFile(database: SqlDriver, workspace: string, id: string): Promise<object | undefined> {
  const files = ident(metaSchema(workspace), 'file')
  const [row] = await database.query(
    statement(sql`
      select file::text from ${tableOf(workspace)} c
      where file->>'id' = ${param(id)} and not exists (select 1 from ${files} f where f.id = ${param(id)}::uuid)
      order by since desc limit 1`),
  )
  if (row === undefined) return undefined
  const file = parseJson(row[0] ?? '{}') as FileColumns
  const { title, description, tags, created_at: createdAt } = file
  return { id: file.id, ...storedFile(file), title, description, tags, createdAt }
}

type FileColumns = {
  readonly id: string
  readonly file_name: string
  readonly file_size: number
  readonly media_type: string
  readonly title: string | null
  readonly description: string | null
  readonly tags: unknown
  readonly created_at: string
  readonly content_key: string
  readonly content_hash: string
}

function storedFile(file: FileColumns): StoredFile {
  const { file_name: fileName, file_size: fileSize, media_type: mediaType } = file
  return { fileName, fileSize, mediaType, contentKey: file.content_key, contentHash: file.content_hash }
}

/**
 * Gives up an upload: no file can take its bytes any longer. Returns false where nobody may remove the bytes now: a file has
 * taken them, nothing is known of them, or a part is being stored, which is removed later.
 */
export async function giveUpContent(database: SqlDriver, workspace: string, key: string): Promise<boolean> {
  const given = await database.query(
    statement(sql`
      update ${tableOf(workspace)} set file = '{}' where key = ${param(key)}::uuid and file is null
      returning ${isStoring}`),
  )
  return given[0]?.[0] === 'f'
}

/** Before bytes are removed that no file has: returns false where a file has taken them again, or a part of them is being stored. */
export async function markContent(database: SqlDriver, workspace: string, key: string): Promise<boolean> {
  const marked = await database.query(
    statement(sql`
      update ${tableOf(workspace)} set file = '{}'
      where key = ${param(key)}::uuid and file is not null and not ${isStoring} returning key`),
  )
  return marked.length > 0
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
      where (file = '{}' or since < ${timestamp(left)}) and file is not null and not ${isStoring}
      order by since limit 1000`),
  ])
  return rows.flatMap(([key]) => key ?? [])
}

/** Whether bytes are of a file, or of none any longer and waiting to be removed; undefined where they were removed. */
export async function contentState(
  database: SqlDriver,
  workspace: string,
  key: string,
): Promise<'used' | 'loose' | undefined> {
  const files = ident(metaSchema(workspace), 'file')
  const [[state] = []] = await database.query(
    statement(sql`
      select case when exists (select 1 from ${files} where content_key = ${param(key)}::uuid) then 'used'
        when exists (select 1 from ${tableOf(workspace)} where key = ${param(key)}::uuid) then 'loose' end`),
  )
  return state === 'used' || state === 'loose' ? state : undefined
}

/** Once the bytes are removed. */
export async function forgetContent(database: SqlDriver, workspace: string, key: string): Promise<void> {
  await database.query(
    statement(sql`delete from ${tableOf(workspace)} where key = ${param(key)}::uuid and file is not null`),
  )
}

/**
 * Notes how many bytes these contents have, by their keys, and returns how many the workspace then holds: of files, of those that
 * were deleted or replaced and are kept, and of uploads what has come. Two of them do not count beside each other.
 */
export function reserveBytes(
  database: SqlDriver,
  workspace: string,
  sizes: ReadonlyMap<string, number>,
): Promise<number> {
  return changeCounted(
    database,
    workspace,
    sql`
      update ${tableOf(workspace)} c set upload = jsonb_build_object('fileSize', s.value)
      from jsonb_each(${json(Object.fromEntries(sizes))}::jsonb) s where c.key = s.key::uuid and c.file is null`,
  ).then(({ bytes }) => bytes)
}

/**
 * Counts a part of an upload, unless the workspace would hold more than `quota` bytes by it: `isCounted` is false then. One that
 * counts already counts once.
 */
export async function reservePart(
  database: SqlDriver,
  workspace: string,
  part: { readonly key: string; readonly number: number; readonly quota: number },
): Promise<{ readonly isCounted: boolean; readonly bytes: number }> {
  const range = partRange(part.number)
  const change = sql`
    update ${tableOf(workspace)} c set stored = stored + ${range}
    where key = ${param(part.key)}::uuid and (stored @> ${range} or
      ${heldBytes(workspace)} - ${arrivedBytes(sql`c.stored`)} + ${arrivedBytes(sql`c.stored + ${range}`)}
        <= ${param(String(part.quota))}::float8) returning key`
  const { changed, bytes } = await changeCounted(database, workspace, change)
  return { isCounted: changed > 0, bytes }
}

function partRange(number: number): Sql {
  return sql`int4multirange(int4range(${param(String(number))}::int, ${param(String(number + 1))}::int))`
}

/** How many rows a change has changed, and how many bytes the workspace holds then. What was given up counts until it is removed. */
async function changeCounted(
  database: SqlDriver,
  workspace: string,
  change: Sql,
): Promise<{ readonly changed: number; readonly bytes: number }> {
  const [, changed = [], [[bytes] = []] = []] = await database.batch([
    statement(sql`select pg_advisory_xact_lock(hashtextextended(${param(`${metaSchema(workspace)} file`)}, 0))`),
    statement(change),
    statement(sql`select ${heldBytes(workspace)}`),
  ])
  return { changed: changed.length, bytes: Number(bytes) }
}

function heldBytes(workspace: string): Sql {
  const files = ident(metaSchema(workspace), 'file')
  return sql`(coalesce((select sum(file_size) from ${files}), 0) + coalesce((
    select sum(case when file ? 'file_size' then (file->>'file_size')::float8
      when upload ? 'userId' then ${arrivedBytes(sql`stored`)}
      when file is null then (upload->>'fileSize')::float8 end) from ${tableOf(workspace)}), 0))`
}

/** Bytes of the parts of an upload; the last one may be shorter than the others. */
function arrivedBytes(stored: Sql): Sql {
  const parts = sql`(select coalesce(sum(upper(r) - lower(r)), 0) from unnest(${stored}) r)`
  return sql`least((upload->>'fileSize')::float8, ${parts} * ${param(String(PART_SIZE))}::float8)`
}

/** Workspaces that are deleted, of whose files some bytes may be left. */
export async function deletedWorkspaces(database: SqlDriver): Promise<readonly string[]> {
  const rows = await database.query(
    statement(sql`
      select id from service.deleted_workspace d
      where not exists (select 1 from service.workspace w where w.id = d.id)`),
  )
  return rows.flatMap(([id]) => id ?? [])
}

/** Once their bytes are removed. */
export async function forgetWorkspace(database: SqlDriver, id: string): Promise<void> {
  await database.query(statement(sql`delete from service.deleted_workspace where id = ${param(id)}::uuid`))
}

function tableOf(workspace: string): Sql {
  return ident(metaSchema(workspace), 'loose_content')
}
