/**
 * A workspace with the tables of the library in a service that runs in this process, its members by fixed ids, and what
 * each of them holds at this moment. Every delegation begins with its members as `begin` is told.
 */
import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { type PolicyContent, parsePolicy, presentPolicy } from '../../../src/core/access/policy.ts'
import type { Model } from '../../../src/core/model/model.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import type { Observe } from '../../../src/ports/observe.ts'
import { openTokens } from '../../../src/services/caller/tokens.ts'
import { createModelCache } from '../../../src/services/model/model-cache.ts'
import { param, type Sql, sql, statement, uuids } from '../../../src/store/statements.ts'
import { findWorkspace } from '../../../src/store/workspaces.ts'
import type { Rows } from '../../property/support/rows.ts'
import { operationsOf } from '../../support/data/model-sketch.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import { openInProcess } from '../../support/service/in-process.ts'
import { generousLicense } from '../../support/service/license.ts'
import type { FileEdit } from './delegation-files.ts'
import { collections, junction, links, now, roles, users, type Way, ways } from './library.ts'
import type { Caller, Policy } from './policies.ts'
import { load } from './service.ts'

/** Rows of the library name the manager, and nobody else of these. */
export const people = {
  manager: users[0] ?? '',
  creature: 'cccccccc-2222-4333-8444-555555555551',
  stranger: 'cccccccc-2222-4333-8444-555555555552',
  colleague: 'cccccccc-2222-4333-8444-555555555553',
  administrator: 'cccccccc-2222-4333-8444-555555555554',
  suspended: 'cccccccc-2222-4333-8444-555555555555',
} as const

export type PersonName = keyof typeof people

/** Roles without policies whose ids rows of the library contain. */
export const tags = roles.slice(0, 2)
export const ownRole = 'dddddddd-2222-4333-8444-555555555551'
export const otherRole = 'dddddddd-2222-4333-8444-555555555552'

export type Beginning = {
  /** What the manager holds. */
  readonly held: readonly Policy[]
  readonly managerTags: readonly string[]
  /** What a colleague holds. */
  readonly others: readonly Policy[]
  readonly open: readonly Policy[]
}

type Members = Readonly<Record<string, unknown>>

type ModelFile = { readonly roles?: Members; readonly policies?: Members; readonly ids?: Members }

type Plan = { readonly plan: string; readonly access: { readonly granted: readonly object[] } }

function without(members: Members, value: unknown): Members {
  return Object.fromEntries(Object.entries(members).filter(([, one]) => one !== value))
}

/** What somebody holds, by names. */
export type Holding = { readonly caller: Caller; readonly policies: readonly Policy[]; readonly isMember: boolean }

export type DelegationWorld = Awaited<ReturnType<typeof openDelegationWorld>>

export async function openDelegationWorld() {
  const server = await startPostgres()
  const database = openPostgres({ connectionString: server.url })
  const clock = { now: () => now, elapsed: () => now }
  const variables = await generousLicense()
  const faults: unknown[] = []
  const observe: Observe = (seen) => {
    if (seen.kind === 'fault') faults.push(seen.error)
  }
  const service = await openInProcess({ database, databaseUrl: server.url, variables, clock, observe })
  const { services } = service
  const tokens = await openTokens({ ports: services.ports, configured: undefined })
  const keys = new Map<string, string>()
  let filling: Rows | undefined

  async function addKey(userId: string): Promise<void> {
    const id = randomUUID()
    await run(
      sql`insert into service.api_key (id, user_id, name)
        values (${param(id)}::uuid, ${param(userId)}::uuid, 'key')`,
    )
    const claims = { sort: 'key+jwt', userId, id, tokenId: id, expiresAt: undefined } as const
    keys.set(userId, await tokens.sign(claims, now))
  }

  async function run(...statements: readonly Sql[]): Promise<void> {
    await database.batch(statements.map(statement))
  }

  /** `by` is a person or account, whose key has no scope, or a key that was remembered. */
  async function send(by: string | undefined, method: string, path: string, body?: unknown) {
    const token = by === undefined ? undefined : keys.get(by)
    const response = await service.request(`http://localhost${path}`, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    // Nothing but the log tells of the reason.
    return { status: response.status, text: response.status === 500 ? `${text} ${inspect(faults)}` : text }
  }

  const [[founder = ''] = []] = await database.query(statement(sql`select id from service."user"`))
  await addKey(founder ?? '')
  const must = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const { status, text } = await send(founder ?? '', method, path, body)
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const wholeFile = async () => (await must('GET', '/api/shop/schema/model')) as ModelFile
  await must('POST', '/api/system/workspaces', { apiName: 'shop' })
  const sources = await must('GET', '/api/shop/items/ServiceDataSource?fields=id')
  const [source] = (sources as { data: { id: string }[] }).data
  const relations = links.map(
    ({ child, name, column, parent, opposite }) => `${child}.${name}(${column}) -> ${parent}.${opposite}`,
  )
  const indexes = { [junction.name]: [['primary', ...junction.key] as const] }
  const operations = operationsOf({ collections, keys: indexes, relations }, source?.id ?? '')
  await must('POST', '/api/shop/schema/migrate', { operations })
  const workspace = await findWorkspace(database, 'shop')
  if (workspace === undefined) throw new Error('there is no workspace')
  const { id: workspaceId } = workspace
  const modelOf = async (version: number): Promise<Model> => createModelCache({ database }).load(workspace, version)
  const unlinked = await modelOf(1)
  const side = ({ of, name, near }: Way) => {
    const throughFieldId = unlinked.byName.get(of)?.fields.get(near.opposite)?.id
    return { id: randomUUID(), apiName: name, throughFieldId }
  }
  const [firstField, secondField] = ways.map(side)
  const pair = { kind: 'createManyToManyFieldPair', data: { firstField, secondField } }
  await must('POST', '/api/shop/schema/migrate', { operations: [pair] })
  const model = await modelOf(2)
  const builtIn = await database.query(
    statement(sql`select kind, id from service.role where workspace_id = ${param(workspaceId)}::uuid`),
  )
  const roleOf = (kind: string) => builtIn.find(([one]) => one === kind)?.[1] ?? ''
  const [administratorRole, publicRole] = [roleOf('administrator'), roleOf('public')]
  for (const [name, id] of Object.entries(people)) {
    await run(
      sql`insert into service."user" (id, email, email_proven_at)
        values (${param(id)}::uuid, ${param(`${name}@example.com`)}, now())`,
    )
    await addKey(id)
  }
  const tables = openPostgres({
    connectionString: `${server.url}?options=${encodeURIComponent('-c search_path=service_shop_data')}`,
  })

  const member = (id: string, status: string, ...held: readonly string[]): readonly Sql[] => [
    sql`insert into service.member (workspace_id, user_id, status)
      values (${param(workspaceId)}::uuid, ${param(id)}::uuid, ${param(status)})`,
    sql`insert into service.member_role (workspace_id, user_id, role_id)
      select ${param(workspaceId)}::uuid, ${param(id)}::uuid, r.id from (${uuids(held)}) r (id)`,
  ]
  const policy = (content: Policy, role: string): readonly Sql[] => {
    const id = randomUUID()
    return [
      sql`insert into service.policy (id, workspace_id, name, content)
        values (${param(id)}::uuid, ${param(workspaceId)}::uuid, ${param(id)},
          ${param(JSON.stringify(parsePolicy(content, model)))}::jsonb)`,
      sql`insert into service.role_policy (role_id, policy_id) values (${param(role)}::uuid, ${param(id)}::uuid)`,
    ]
  }
  const role = (id: string): Sql => sql`insert into service.role (id, workspace_id, name, kind)
    values (${param(id)}::uuid, ${param(workspaceId)}::uuid, ${param(id)}, 'custom')`

  return {
    model,
    administratorRole,
    publicRole,
    send,
    /** Another key without scope, in place of the one before. */
    addKey,
    remember: (id: string, token: string) => void keys.set(id, token),
    founder: founder ?? '',

    /** All rights as they are told, and nothing else. */
    async begin({ held, managerTags, others, open }: Beginning): Promise<void> {
      await run(
        sql`update service.instance set access_version = access_version + 1`,
        sql`delete from service.invitation`,
        sql`delete from service.policy`,
        sql`delete from service.member where user_id <> ${param(founder ?? '')}::uuid`,
        sql`delete from service.role where kind = 'custom'`,
        sql`delete from service."user" where is_service`,
        sql`delete from service.api_key where name = 'made'`,
        ...[ownRole, otherRole, ...tags].map(role),
        ...held.flatMap((content) => policy(content, ownRole)),
        ...others.flatMap((content) => policy(content, otherRole)),
        ...open.flatMap((content) => policy(content, publicRole)),
        ...member(people.manager, 'active', ownRole, ...managerTags),
        ...member(people.creature, 'active'),
        ...member(people.colleague, 'active', otherRole, ...tags),
        ...member(people.administrator, 'active', administratorRole),
        ...member(people.suspended, 'suspended', administratorRole),
      )
      await services.ports.workspaces.changed(workspaceId)
    },

    /** Fills the tables, unless these rows are there already. */
    async fill(rows: Rows): Promise<void> {
      if (filling === rows) return
      await load({ driver: tables, dialect: postgres }, rows)
      filling = rows
    },

    /** Somebody has written to the tables. */
    spoil(): void {
      filling = undefined
    },

    /**
     * Applies the model file that somebody gets, or that they have from somebody who does, with other roles and policies
     * in it; `granted`: whether the plan says that a right is given.
     */
    async apply(by: string | undefined, { roles, policies }: FileEdit) {
      const own = await send(by, 'GET', '/api/shop/schema/model')
      const file = (own.status === 200 ? JSON.parse(own.text) : {}) as ModelFile
      const { roles: there, policies: known, ids } = file.roles === undefined ? await wholeFile() : file
      const model = {
        version: 1,
        roles: without({ ...there, ...roles }, null),
        policies: without({ ...known, ...policies }, null),
        ids: Object.fromEntries(Object.entries(ids ?? {}).filter(([line]) => /^(role|policy) /.test(line))),
      }
      const planned = await send(by, 'POST', '/api/shop/schema/plan', { model })
      if (planned.status >= 300) return { ...planned, granted: false }
      const { plan, access } = (JSON.parse(planned.text) as { data: Plan }).data
      const answer = await send(by, 'POST', '/api/shop/schema/apply', { model, plan })
      return { ...answer, granted: access.granted.length > 0 }
    },

    /** What whoever accepts the invitation gets. */
    async accept(invitationId: string): Promise<void> {
      await run(
        sql`update service.instance set access_version = access_version + 1`,
        sql`insert into service.member (workspace_id, user_id)
          values (${param(workspaceId)}::uuid, ${param(people.stranger)}::uuid) on conflict do nothing`,
        sql`insert into service.member_role (workspace_id, user_id, role_id)
          select ${param(workspaceId)}::uuid, ${param(people.stranger)}::uuid, ir.role_id
          from service.invitation_role ir where ir.invitation_id = ${param(invitationId)}::uuid
          on conflict do nothing`,
        sql`delete from service.invitation where id = ${param(invitationId)}::uuid`,
      )
      await services.ports.workspaces.changed(workspaceId)
    },

    /** What these people hold now; the anonymous caller is called `undefined`. */
    async holdings(ids: readonly (string | undefined)[]): Promise<readonly Holding[]> {
      const [[text] = []] = await database.query(
        statement(sql`
          select coalesce(json_agg(json_build_object('userId', m.user_id,
            'roles', (select coalesce(json_agg(mr.role_id), '[]'::json) from service.member_role mr
              where mr.user_id = m.user_id and mr.workspace_id = m.workspace_id))), '[]'::json)::text
          from service.member m where m.status = 'active' and m.workspace_id = ${param(workspaceId)}::uuid`),
      )
      const members = JSON.parse(text ?? '[]') as { userId: string; roles: string[] }[]
      const [[attached] = []] = await database.query(
        statement(sql`
          select coalesce(json_agg(json_build_object('role', rp.role_id, 'content', p.content)), '[]'::json)::text
          from service.role_policy rp join service.policy p on p.id = rp.policy_id`),
      )
      const policies = JSON.parse(attached ?? '[]') as { role: string; content: PolicyContent }[]
      return ids.map((userId) => {
        const roleIds = userId === undefined ? [publicRole] : members.find((one) => one.userId === userId)?.roles
        const own = policies.filter((one) => roleIds?.includes(one.role))
        return {
          caller: { userId, roleIds: roleIds ?? [] },
          policies: own.map(({ content }) => presentPolicy(content, model) as Policy),
          isMember: roleIds !== undefined,
        }
      })
    },

    /** Policies, roles and invitations that there are, and the Administrators with their status. */
    async inventory() {
      const [[text] = []] = await database.query(
        statement(sql`
          select json_build_object(
            'policies', (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'content', content) order by id),
                '[]'::json)
              from service.policy),
            'roles', (select json_agg(id order by id) from service.role where workspace_id = ${param(workspaceId)}::uuid),
            'roleNames', (select json_agg(name order by id) from service.role
              where workspace_id = ${param(workspaceId)}::uuid and kind <> 'administrator'),
            'attached', (select json_object_agg(r.name, (select coalesce(json_agg(p.name order by p.name), '[]'::json)
                from service.role_policy rp join service.policy p on p.id = rp.policy_id where rp.role_id = r.id))
              from service.role r where r.workspace_id = ${param(workspaceId)}::uuid),
            'invitations', (select coalesce(json_agg(id order by id), '[]'::json) from service.invitation),
            'administrators', (
              select json_object_agg(m.user_id, m.status) from service.member m
              join service.member_role mr on mr.user_id = m.user_id and mr.workspace_id = m.workspace_id
              where mr.role_id = ${param(administratorRole)}::uuid))::text`),
      )
      const found = JSON.parse(text ?? '{}') as {
        readonly policies: readonly { readonly id: string; readonly name: string; readonly content: PolicyContent }[]
        readonly roles: readonly string[]
        readonly roleNames: readonly string[]
        /** Names of policies by the names of the roles that have them. */
        readonly attached: Readonly<Record<string, readonly string[]>>
        readonly invitations: readonly string[]
        readonly administrators: Readonly<Record<string, string>>
      }
      const shown = found.policies.map(({ content, ...policy }) => ({
        ...policy,
        content: presentPolicy(content, model) as Policy,
      }))
      return { ...found, policies: shown }
    },

    async close(): Promise<void> {
      await service.close()
      await tables.close()
      await database.close()
      await server.close()
    },
  }
}
