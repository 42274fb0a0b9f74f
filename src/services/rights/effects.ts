/**
 * The rights that members would gain or lose by a change (docs/contract.md#effect-of-a-change).
 */
import type { Effect, EffectKind, Effects } from '../../core/access/effect.ts'
import type { Ports } from '../../ports/ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import { loadRightsOutline, loadSuspended, type RightsOutline } from '../../store/roles.ts'
import { type RequestScope, requireStill } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'
import { queuedFor } from '../caller/queued-requests.ts'
import type { WorkQueue } from '../caller/work-queue.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { type AccessTests, type JudgedTest, requireInsight } from './access-tests.ts'
import { type LoadGrantor, loadCurrentModel } from './delegation.ts'
import { outlineAfter, principalIn, publicRoles } from './outline.ts'
import { contentBy } from './policies.ts'
import { bodyFault, requireKnown } from './roles.ts'

/** By ids; null deletes. A suspended member with roles becomes active with these roles. */
export type PlannedRights = {
  readonly policies?: Readonly<Record<string, { readonly content: unknown } | null>> | undefined
  readonly roles?: Readonly<Record<string, { readonly policies: readonly string[] } | null>> | undefined
  readonly members?: Readonly<Record<string, { readonly roles: readonly string[] } | null>> | undefined
}

/** Number of affected active members, the ids of the first of them, and whether anonymous callers are affected. */
export type SharedEffect = Effect & {
  readonly members: number
  readonly userIds: readonly string[]
  readonly isAnonymous: boolean
}

export type RightsEffects = Readonly<Record<EffectKind, readonly SharedEffect[]>> & {
  /** The results of the workspace's access tests after the change. */
  readonly tests: readonly JudgedTest[]
}

export type RightsPreview = {
  /** Changes nothing. Throws 403 without workspaceMembers:read and edit and dataModel:read, 422 for invalid input. */
  effects(scope: RequestScope, sent: LazyBody<PlannedRights>): Promise<RightsEffects>
}

export type RightsPreviewDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly models: ModelCache
  readonly loadGrantor: LoadGrantor
  readonly accessTests: Pick<AccessTests, 'judge'>
  readonly queue: WorkQueue
}

const MOST_IDS = 100

export function createRightsPreview(deps: RightsPreviewDeps): RightsPreview {
  const { ports, models, loadGrantor, accessTests, queue } = deps
  const { database } = ports

  /** Loads all policies of the workspace. */
  async function between(scope: RequestScope, planned: PlannedRights): Promise<RightsEffects> {
    const { workspace, caller } = scope
    const [before, suspended, model, grantor, { effectsOf }] = await Promise.all([
      loadRightsOutline(database, workspace.id),
      loadSuspended(database, workspace.id),
      loadCurrentModel(database, models, workspace),
      loadGrantor(caller, workspace),
      import('../../core/access/effect.ts'),
    ])
    const after = planTogether({ before, suspended }, planned, (content) => contentBy(grantor, content, model))
    const collected = createCollected()
    const known = new Map<string, Effects>()
    for (const holder of holdersOf(before, after)) {
      const path = JSON.stringify([holder.before, holder.after, holder.userId === undefined])
      const effects =
        known.get(path) ??
        (await inParts(
          effectsOf(
            principalIn(before, holder.userId, holder.before).rights,
            principalIn(after, holder.userId, holder.after).rights,
            model,
          ),
        ))
      known.set(path, effects)
      collected.add(holder.userId, effects)
    }
    return { ...collected.all(), tests: await accessTests.judge(scope, after) }
  }

  return {
    async effects(scope, sent) {
      requireInsight(scope)
      const planned = await sent()
      const effects = await queue.run({ ...queuedFor(scope), isLarge: false }, () => between(scope, planned))
      await requireStill(scope)
      return effects
    },
  }
}

type Holder = {
  readonly userId: string | undefined
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** All members with a role, and the anonymous caller. */
function holdersOf(before: RightsOutline, after: RightsOutline): readonly Holder[] {
  const later = new Map(after.members.map(({ userId, roles }) => [userId, roles]))
  const active = new Set(before.members.map(({ userId }) => userId))
  const ofAll = publicRoles(before)
  return [
    { userId: undefined, before: ofAll, after: ofAll },
    ...before.members.map(({ userId, roles }) => ({ userId, before: roles, after: later.get(userId) ?? [] })),
    ...after.members.flatMap(({ userId, roles }) => (active.has(userId) ? [] : [{ userId, before: [], after: roles }])),
  ]
}

/** Throws 422 for an id that the workspace does not have. */
function planTogether(
  { before, suspended }: { readonly before: RightsOutline; readonly suspended: readonly string[] },
  { policies = {}, roles = {}, members = {} }: PlannedRights,
  parse: (content: unknown) => RightsOutline['policies'][number]['content'],
): RightsOutline {
  requireNamed('policies', policies, before.policies)
  requireNamed('roles', roles, before.roles)
  requireNamed(
    'members',
    members,
    [...before.members.map(({ userId }) => userId), ...suspended].map((id) => ({ id })),
  )
  const builtIn = before.roles.find(({ id, kind }) => kind !== 'custom' && roles[id] === null)
  if (builtIn !== undefined) throw bodyFault(`roles.${builtIn.id}`, 'is built in and cannot be deleted')
  for (const [id, role] of Object.entries(roles))
    requireKnown(`roles.${id}.policies`, role?.policies ?? [], before.policies)
  for (const [id, member] of Object.entries(members))
    requireKnown(`members.${id}.roles`, member?.roles ?? [], before.roles)
  const contents = Object.entries(policies).map(([id, change]) => [id, change && { content: parse(change.content) }])
  return outlineAfter(before, { policies: Object.fromEntries(contents), roles, members })
}

function requireNamed(path: string, changes: object, known: readonly { readonly id: string }[]): void {
  const unknown = Object.keys(changes).find((id) => !known.some((one) => one.id === id))
  if (unknown !== undefined) throw bodyFault(`${path}.${unknown}`, 'does not exist in this workspace')
}

/** Merges equal effects on several members. */
function createCollected() {
  type Shared = { readonly effect: Effect; members: number; readonly userIds: string[]; isAnonymous: boolean }
  const found: Record<EffectKind, Map<string, Shared>> = { granted: new Map(), revoked: new Map(), changed: new Map() }
  return {
    add(userId: string | undefined, effects: Effects): void {
      for (const kind of ['granted', 'revoked', 'changed'] as const) {
        for (const effect of effects[kind]) {
          const path = JSON.stringify(effect)
          const shared = found[kind].get(path) ?? { effect, members: 0, userIds: [], isAnonymous: false }
          found[kind].set(path, shared)
          if (userId === undefined) shared.isAnonymous = true
          else shared.members += 1
          if (userId !== undefined && shared.userIds.length < MOST_IDS) shared.userIds.push(userId)
        }
      }
    },
    all() {
      const list = (kind: EffectKind) =>
        [...found[kind].values()].map(({ effect, members, userIds, isAnonymous }) => {
          return { ...effect, members, userIds, isAnonymous }
        })
      return { granted: list('granted'), revoked: list('revoked'), changed: list('changed') }
    },
  }
}
