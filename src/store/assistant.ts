/** The assistant: settings of workspaces, conversations of users, the calls that wait for them, and what was used. */

import type { ConversationEntry } from '../core/assistant/conversation.ts'
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { isoTime, json, param, type Sql, sql, statement, timestamp } from './statements.ts'

export type SettingsRow = { readonly settings: object; readonly sealedKey: string | null }

export async function loadAssistantSettings(
  database: SqlDriver,
  workspaceId: string,
): Promise<SettingsRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select settings::text, sealed_key from service.assistant_settings where id = ${param(workspaceId)}::uuid`),
  )
  return row && { settings: parseJson(row[0] ?? '{}') as object, sealedKey: row[1] ?? null }
}

/** Fails the transaction where the row is no longer `before`. */
export function saveAssistantSettings(
  workspaceId: string,
  before: SettingsRow | undefined,
  { settings, sealedKey }: SettingsRow,
): Statement {
  return statement(sql`
    with turn as (
      insert into service.assistant_settings as s (id, settings, sealed_key)
      values (${param(workspaceId)}::uuid, ${json(settings)}::jsonb, ${param(sealedKey)})
      on conflict (id) do update set settings = excluded.settings, sealed_key = excluded.sealed_key
        where s.settings = ${json(before?.settings ?? null)}::jsonb
          and s.sealed_key is not distinct from ${param(before?.sealedKey ?? null)}::text
      returning 1)
    select 1 / count(*) from turn`)
}

/** Whose conversations: nobody else reads, changes or deletes them. */
export type Owner = { readonly workspaceId: string; readonly userId: string }

const owns = ({ workspaceId, userId }: Owner, conversation: Sql = sql`c`) =>
  sql`${conversation}.workspace_id = ${param(workspaceId)}::uuid and ${conversation}.user_id = ${param(userId)}::uuid`

export type ListedConversation = {
  readonly id: string
  readonly title: string
  readonly allowsWrites: boolean
  readonly createdAt: string
  readonly updatedAt: string
}

const listed = sql`json_build_object('id', c.id, 'title', c.title, 'allowsWrites', c.allows_writes,
  'createdAt', ${isoTime(sql`c.created_at`)}, 'updatedAt', ${isoTime(sql`c.updated_at`)})`

/** The latest first, as JSON text. */
export async function listConversations(database: SqlDriver, owner: Owner, most: number): Promise<string> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(o.one order by o.updated_at desc, o.id desc), '[]')::text
      from (select ${listed} as one, c.updated_at, c.id from service.conversation c
        where ${owns(owner)} order by c.updated_at desc, c.id desc limit ${param(String(most))}::int) o`),
  )
  return text ?? '[]'
}

export type StoredConversation = ListedConversation & {
  /** Whether it may have values of items in it. */
  readonly hasRows: boolean
  readonly entries: readonly ConversationEntry[]
  readonly approvals: readonly StoredApproval[]
}

export type StoredApproval = {
  readonly id: string
  readonly tool: string
  readonly arguments: string
  readonly state: 'pending' | 'approved' | 'declined' | 'expired'
  readonly expiresAt: string
}

/** Calls that wait or waited, of one conversation; those before are not shown as such. */
const MOST_APPROVALS = 50

/** With the last entries in order, of `most` bytes together but all since the user spoke last, and what waits. */
export async function loadConversation(
  database: SqlDriver,
  owner: Owner,
  { id, most, now }: { readonly id: string; readonly most: number; readonly now: Instant },
): Promise<StoredConversation | undefined> {
  const [row] = await database.query(
    statement(sql`
      select ${listed}::text, c.has_rows::text,
        (select coalesce(json_agg(e.entry order by e.position), '[]')::text from (
          select e.entry, e.position, sum(octet_length(e.entry)) over (order by e.position desc) as size
          from service.conversation_entry e where e.conversation_id = c.id) e
          where e.size <= ${param(String(most))}::bigint or e.position >= (
            select max(u.position) from service.conversation_entry u
            where u.conversation_id = c.id and u.entry like '{"kind":"user"%')),
        (select coalesce(json_agg(json_build_object('id', a.id, 'tool', a.tool, 'arguments', a.arguments,
          'state', ${stateAt(now)}, 'expiresAt', ${isoTime(sql`a.expires_at`)}) order by a.expires_at, a.id), '[]')::text
          from (select * from service.assistant_approval a where a.conversation_id = c.id
            order by a.expires_at desc, a.id desc limit ${param(String(MOST_APPROVALS))}::int) a)
      from service.conversation c where c.id = ${param(id)}::uuid and ${owns(owner)}`),
  )
  if (row === undefined) return undefined
  const [conversation, hasRows, entries, approvals] = row
  return {
    ...(parseJson(conversation ?? '{}') as ListedConversation),
    hasRows: hasRows === 'true',
    entries: (parseJson(entries ?? '[]') as string[]).map((entry) => parseJson(entry) as ConversationEntry),
    approvals: parseJson(approvals ?? '[]') as readonly StoredApproval[],
  }
}

const stateAt = (now: Instant) =>
  sql`case when a.state = 'pending' and a.expires_at <= ${timestamp(now)} then 'expired' else a.state end`

export function insertConversation(
  id: string,
  { workspaceId, userId }: Owner,
  { title, hasRows }: { readonly title: string; readonly hasRows: boolean },
): Statement {
  return statement(sql`
    insert into service.conversation (id, workspace_id, user_id, title, has_rows)
    values (${param(id)}::uuid, ${param(workspaceId)}::uuid, ${param(userId)}::uuid, ${param(title)},
      ${param(String(hasRows))}::boolean)`)
}

/** Returns whether there is one. */
export async function changeConversation(
  database: SqlDriver,
  owner: Owner,
  id: string,
  { title, allowsWrites }: { readonly title?: string | undefined; readonly allowsWrites?: boolean | undefined },
): Promise<boolean> {
  const rows = await database.query(
    statement(sql`
      update service.conversation c set title = coalesce(${param(title ?? null)}, title),
        allows_writes = coalesce(${param(allowsWrites === undefined ? null : String(allowsWrites))}::boolean, allows_writes)
      where id = ${param(id)}::uuid and ${owns(owner)} returning id`),
  )
  return rows.length === 1
}

/** Returns whether there was one. */
export async function deleteConversation(database: SqlDriver, owner: Owner, id: string): Promise<boolean> {
  const rows = await database.query(
    statement(
      sql`delete from service.conversation c where c.id = ${param(id)}::uuid and ${owns(owner)} returning c.id`,
    ),
  )
  return rows.length === 1
}

export async function deleteConversationsBefore(database: SqlDriver, instant: Instant): Promise<void> {
  await database.query(statement(sql`delete from service.conversation where updated_at < ${timestamp(instant)}`))
}

export type Hold = { readonly holder: string; readonly now: Instant; readonly until: Instant }

/** Undefined where somebody else answers in it, or there is none. */
export async function holdConversation(
  database: SqlDriver,
  owner: Owner,
  id: string,
  { holder, now, until }: Hold,
): Promise<Pick<StoredConversation, 'hasRows'> | undefined> {
  const rows = await database.query(
    statement(sql`
      update service.conversation c set held_by = ${param(holder)}::uuid, held_until = ${timestamp(until)}
      where id = ${param(id)}::uuid and ${owns(owner)} and (held_until is null or held_until <= ${timestamp(now)})
      returning has_rows::text`),
  )
  return rows[0] && { hasRows: rows[0][0] === 'true' }
}

export async function releaseConversation(database: SqlDriver, id: string, holder: string): Promise<void> {
  await database.query(
    statement(sql`
      update service.conversation set held_by = null, held_until = null
      where id = ${param(id)}::uuid and held_by = ${param(holder)}::uuid`),
  )
}

/** Bytes of all entries of a conversation. */
const MOST_SIZE = 1_500_000

/** Adds what was said by whoever answers in it, and holds it on; false where that is somebody else by now, it is deleted, or full. */
export async function addEntries(
  database: SqlDriver,
  id: string,
  { holder, until }: Pick<Hold, 'holder' | 'until'>,
  entries: readonly ConversationEntry[],
): Promise<boolean> {
  const texts = entries.map((entry) => JSON.stringify(entry))
  const size = param(String(new TextEncoder().encode(texts.join('')).length))
  const rows = await database.query(
    statement(sql`
      with held as (
        update service.conversation set held_until = ${timestamp(until)}, updated_at = clock_timestamp(), size = size + ${size}::bigint
        where id = ${param(id)}::uuid and held_by = ${param(holder)}::uuid and size < ${param(String(MOST_SIZE))}::bigint returning id)
      , added as (
        insert into service.conversation_entry (conversation_id, entry)
        select h.id, e.value from held h, jsonb_array_elements_text(${json(texts)}::jsonb)
          with ordinality e (value, n) order by e.n)
      select id from held`),
  )
  return rows.length === 1
}

/** What became of a call, whoever answers meanwhile, also where the conversation is full. */
export async function addOutcome(database: SqlDriver, id: string, entry: ConversationEntry): Promise<void> {
  const text = param(JSON.stringify(entry))
  await database.query(
    statement(sql`
      with counted as (
        update service.conversation set size = size + octet_length(${text}) where id = ${param(id)}::uuid returning id)
      insert into service.conversation_entry (conversation_id, entry) select c.id, ${text} from counted c`),
  )
}

export type NewApproval = Pick<StoredApproval, 'id' | 'tool' | 'arguments'> & {
  readonly conversationId: string
  readonly modelVersion: number
  readonly expiresAt: Instant
}

export function insertApproval(approval: NewApproval): Statement {
  const { id, conversationId, tool, arguments: sent, modelVersion, expiresAt } = approval
  return statement(sql`
    insert into service.assistant_approval (id, conversation_id, tool, arguments, model_version, expires_at)
    values (${param(id)}::uuid, ${param(conversationId)}::uuid, ${param(tool)}, ${param(sent)},
      ${param(String(modelVersion))}::bigint, ${timestamp(expiresAt)})`)
}

export type DecidedApproval = Pick<NewApproval, 'tool' | 'arguments' | 'conversationId' | 'modelVersion'>

/**
 * Decides a call that waits, once, and keeps that it was decided with it: undefined where it does not wait, is not of this
 * user, is too old or was made for another model.
 */
export async function decideApproval(
  database: SqlDriver,
  owner: Owner,
  { id, isApproved, now }: { readonly id: string; readonly isApproved: boolean; readonly now: Instant },
): Promise<DecidedApproval | undefined> {
  const decision = sql`json_build_object('kind', 'decision', 'tool', d.tool, 'isApproved', ${param(String(isApproved))}::boolean)::text`
  const [row] = await database.query(
    statement(sql`
      with decided as (
        update service.assistant_approval a set state = ${param(isApproved ? 'approved' : 'declined')}
        from service.conversation c join service.workspace w on w.id = c.workspace_id
        where a.id = ${param(id)}::uuid and c.id = a.conversation_id and ${owns(owner)} and a.state = 'pending'
          and a.expires_at > ${timestamp(now)} and (${param(String(!isApproved))}::boolean or w.model_version = a.model_version)
        returning a.tool, a.arguments, a.conversation_id, a.model_version)
      , added as (
        insert into service.conversation_entry (conversation_id, entry) select d.conversation_id, ${decision} from decided d)
      , counted as (
        update service.conversation c set size = size + octet_length(${decision}) from decided d where c.id = d.conversation_id)
      select tool, arguments, conversation_id, model_version::text from decided`),
  )
  return (
    row && {
      tool: row[0] ?? '',
      arguments: row[1] ?? '',
      conversationId: row[2] ?? '',
      modelVersion: Number(row[3]),
    }
  )
}

export async function loadApproval(
  database: SqlDriver,
  owner: Owner,
  { id, now }: { readonly id: string; readonly now: Instant },
): Promise<StoredApproval['state'] | undefined> {
  const [row] = await database.query(
    statement(sql`
      select ${stateAt(now)} from service.assistant_approval a join service.conversation c on c.id = a.conversation_id
      where a.id = ${param(id)}::uuid and ${owns(owner)}`),
  )
  return row?.[0] as StoredApproval['state'] | undefined
}

/** What may be used of a day. */
export type UsageLimits = {
  readonly requestsPerUser: number
  readonly tokensPerUser: number
  readonly requests: number
  readonly tokens: number
}

/** Counts a request; false where it would be one too many, or too many tokens were used. */
export async function countRequest(
  database: SqlDriver,
  { workspaceId, userId }: Owner,
  { day, limits }: { readonly day: string; readonly limits: UsageLimits },
): Promise<boolean> {
  const limit = (name: keyof UsageLimits) => sql`${param(String(limits[name]))}::bigint`
  const rows = await database.query(
    statement(sql`
      with used as (
        select coalesce(sum(requests), 0) as requests, coalesce(sum(tokens), 0) as tokens,
          coalesce(sum(requests) filter (where user_id = ${param(userId)}::uuid), 0) as own_requests,
          coalesce(sum(tokens) filter (where user_id = ${param(userId)}::uuid), 0) as own_tokens
        from service.assistant_usage where workspace_id = ${param(workspaceId)}::uuid and day = ${param(day)}::date)
      insert into service.assistant_usage as u (workspace_id, user_id, day, requests)
      select ${param(workspaceId)}::uuid, ${param(userId)}::uuid, ${param(day)}::date, 1 from used
      where requests < ${limit('requests')} and tokens < ${limit('tokens')}
        and own_requests < ${limit('requestsPerUser')} and own_tokens < ${limit('tokensPerUser')}
      on conflict (workspace_id, day, user_id) do update set requests = u.requests + 1
        where u.requests < ${limit('requestsPerUser')}
      returning user_id`),
  )
  return rows.length === 1
}

/** Adds tokens that were used; false where a limit is reached by them. */
export async function countTokens(
  database: SqlDriver,
  { workspaceId, userId }: Owner,
  { day, tokens, limits }: { readonly day: string; readonly tokens: number; readonly limits: UsageLimits },
): Promise<boolean> {
  const [[isWithin] = []] = await database.query(
    statement(sql`
      with added as (
        insert into service.assistant_usage as u (workspace_id, user_id, day, tokens)
        values (${param(workspaceId)}::uuid, ${param(userId)}::uuid, ${param(day)}::date, ${param(String(tokens))}::bigint)
        on conflict (workspace_id, day, user_id) do update set tokens = u.tokens + excluded.tokens
        returning tokens)
      select added.tokens < ${param(String(limits.tokensPerUser))}::bigint
        and added.tokens + coalesce((select sum(o.tokens) from service.assistant_usage o
          where o.workspace_id = ${param(workspaceId)}::uuid and o.day = ${param(day)}::date
            and o.user_id <> ${param(userId)}::uuid), 0) < ${param(String(limits.tokens))}::bigint
      from added`),
  )
  return isWithin === 'true' || isWithin === 't'
}

/** What was used since `day` of each workspace that used anything, the most tokens first, as JSON text. */
export async function loadUsageByWorkspace(database: SqlDriver, day: string): Promise<string> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(json_build_object('workspace', d.api_name, 'requests', d.requests, 'tokens', d.tokens,
        'users', d.users) order by d.tokens desc, d.api_name), '[]')::text
      from (select w.api_name, sum(u.requests) as requests, sum(u.tokens) as tokens, count(distinct u.user_id) as users
        from service.assistant_usage u join service.workspace w on w.id = u.workspace_id where u.day >= ${param(day)}::date
        group by w.api_name) d`),
  )
  return text ?? '[]'
}

/** Of each day since `day`, the latest first. */
export async function loadUsage(database: SqlDriver, workspaceId: string, day: string): Promise<string> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(json_build_object('day', d.day, 'requests', d.requests, 'tokens', d.tokens, 'users', d.users)
        order by d.day desc), '[]')::text
      from (select day::text as day, sum(requests) as requests, sum(tokens) as tokens, count(*) as users
        from service.assistant_usage where workspace_id = ${param(workspaceId)}::uuid and day >= ${param(day)}::date
        group by day) d`),
  )
  return text ?? '[]'
}
