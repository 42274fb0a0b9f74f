/** Who gets and loses what by a change of rights, by people who have the same of it. */
import type { PlannedRights, RightsEffect, RightsEffects } from 'governed-data-client/system'
import { FILES } from '../../data/files.ts'
import { useQuery } from '../../data/queries.ts'
import { readableQuery, titleIn } from '../../data/workspaces.ts'
import { accessTexts } from '../../messages/access.ts'
import { formatNumber, listed, t } from '../../messages/messages.ts'
import { Fault, Notice, Skeleton } from '../../ui/notice.tsx'
import page from '../page.module.css'
import styles from './access.module.css'
import { type Action, actions } from './content.ts'
import { effectQuery, membersQuery, rolesQuery, useInsight } from './data.ts'

type EffectProps = { readonly workspace: string; readonly planned: PlannedRights }

/**
 * The effect, the tests that would fail by it, and whether it is still on its way. Nothing is requested or shown to callers who
 * lack the rights to know it.
 */
export function useEffectOf({ workspace, planned }: EffectProps) {
  const mayKnow = useInsight(workspace)
  const isShown = mayKnow !== false
  const enabled = mayKnow === true
  const query = useQuery({ ...effectQuery(workspace, planned), enabled })
  const failing = (query.data?.tests ?? []).filter(({ passed }) => passed === false)
  const now = useQuery({ ...effectQuery(workspace, {}), enabled: enabled && failing.length > 0 })
  const failed = new Set(now.data?.tests.flatMap(({ id, passed }) => (passed === false ? [id] : [])))
  const isPending = isShown && (query.isFetching || now.isFetching)
  return { isShown, isPending, query, failing: failing.filter(({ id }) => !failed.has(id)) }
}

type ShownProps = Pick<EffectProps, 'workspace'> & { readonly effect: ReturnType<typeof useEffectOf> }

export function Effect({ workspace, effect: { isShown, isPending, query, failing } }: ShownProps) {
  const texts = accessTexts.value
  const { data, error, refetch } = query
  if (!isShown) return <Notice>{texts.effectHidden}</Notice>
  if (isPending) return <Skeleton lines={3} />
  if (error?.status === 403) return <Notice look="danger">{texts.exceeds}</Notice>
  if (error) return <Fault error={error} onRetry={() => void refetch()} />
  if (!data) return null
  return (
    <>
      {failing.length > 0 && <Notice look="warning">{texts.wouldFail(failing.map(({ name }) => name))}</Notice>}
      <Groups workspace={workspace} effects={data} />
    </>
  )
}

const kinds = ['granted', 'opened', 'revoked', 'limited', 'changed'] as const
type Kind = (typeof kinds)[number]

type Who = Pick<RightsEffect, 'members' | 'userIds' | 'isAnonymous'>
type Group = Who & { readonly effects: Readonly<Record<Kind, readonly RightsEffect[]>> }

type GroupsProps = Pick<EffectProps, 'workspace'> & { readonly effects: RightsEffects }

function Groups({ workspace, effects }: GroupsProps) {
  const texts = accessTexts.value
  const groups = groupsOf(effects)
  const nameOf = useNames(workspace)
  const { data: readable = [] } = useQuery(readableQuery(workspace))
  const titleOf = (name: string) => (name === FILES ? t.value.files.title : titleIn(readable, name))
  if (groups.length === 0) return <Notice look="good">{texts.noEffect}</Notice>
  if (nameOf === undefined) return <Skeleton lines={3} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well
    <section class={styles.effect} tabIndex={0} aria-label={texts.effect}>
      {groups.map((group) => (
        <div key={keyOf(group)} class={page.stack}>
          <h3>
            <bdi>{nameOf(group)}</bdi>
          </h3>
          {kinds.map((kind) => (
            <Lines key={kind} kind={kind} effects={group.effects[kind]} titleOf={titleOf} />
          ))}
        </div>
      ))}
    </section>
  )
}

type LinesProps = {
  readonly kind: Kind
  readonly effects: readonly RightsEffect[]
  readonly titleOf: (collection: string) => string
}

/** One line for each collection, and one for all rights in the workspace. */
function Lines({ kind, effects, titleOf }: LinesProps) {
  const texts = accessTexts.value
  if (effects.length === 0) return null
  const byPlace = Map.groupBy(effects, (effect) => ('collection' in effect ? effect.collection : ''))
  return (
    <dl data-effect={kind}>
      <dt>{texts.effects[kind]}</dt>
      {[...byPlace].map(([collection, those]) => (
        <dd key={collection}>
          <strong>
            <bdi>{collection === '' ? texts.entitlements : titleOf(collection)}</bdi>
          </strong>
          {': '}
          {those
            .toSorted((one, other) => placeOf(one) - placeOf(other))
            .map((effect) => textOf(effect, kind))
            .join(', ')}
        </dd>
      ))}
    </dl>
  )
}

function placeOf(effect: RightsEffect): number {
  return 'action' in effect ? actions.indexOf(effect.action as Action) : 0
}

function textOf(effect: RightsEffect, kind: Kind): string {
  const { does, entitlement, effectOn, itemsOf } = accessTexts.value
  if ('entitlement' in effect) {
    return entitlement[effect.entitlement as keyof typeof entitlement] ?? effect.entitlement
  }
  const { action, fields = [], items } = effect
  const hasItems = kind === 'granted' && items !== undefined && !(action === 'create' && items === 'all')
  const parts = [...(hasItems ? [itemsOf[items]] : []), ...(fields.length > 0 ? [listed(fields)] : [])]
  return parts.length === 0 ? does[action] : effectOn(does[action], parts.join(' · '))
}

function keyOf({ members, userIds, isAnonymous }: Who): string {
  return JSON.stringify([members, isAnonymous, userIds])
}

/** What opens everything, or no longer does, is said so. */
function changeOf(effect: RightsEffect): 'opened' | 'limited' | 'changed' {
  const items = 'items' in effect ? effect.items : undefined
  return items === undefined ? 'changed' : items === 'all' ? 'opened' : 'limited'
}

function groupsOf(effects: RightsEffects): readonly Group[] {
  const all = [
    ...effects.granted.map((effect) => ({ kind: 'granted' as const, effect })),
    ...effects.revoked.map((effect) => ({ kind: 'revoked' as const, effect })),
    ...effects.changed.map((effect) => ({ kind: changeOf(effect), effect })),
  ]
  return [...Map.groupBy(all, ({ effect }) => keyOf(effect)).values()].map((those) => {
    const of = (kind: Kind) => those.filter((one) => one.kind === kind).map(({ effect }) => effect)
    const [{ effect: who }] = those as [(typeof those)[number]]
    const [granted, opened, revoked] = [of('granted'), of('opened'), of('revoked')]
    return { ...who, effects: { granted, opened, revoked, limited: of('limited'), changed: of('changed') } }
  })
}

/** So many are named one by one. */
const NAMED = 3

/** A few people by their names, and many by the role that exactly they have. Undefined until the names are there. */
function useNames(workspace: string): ((who: Who) => string) | undefined {
  const texts = accessTexts.value
  const { data: members = [], isPending: areMembersMissing } = useQuery(membersQuery(workspace))
  const { data: roles = [], isPending: areRolesMissing } = useQuery(rolesQuery(workspace))
  if (areMembersMissing || areRolesMissing) return undefined
  const personOf = (id: string) => {
    const member = members.find(({ userId }) => userId === id)
    return member?.fullName ?? member?.email ?? id
  }
  const holdersOf = (id: string) => members.filter((one) => one.status === 'active' && one.roles.includes(id))
  const roleOf = ({ members: count, userIds }: Who) =>
    roles.find(({ id }) => {
      const holders = holdersOf(id)
      return holders.length === count && userIds.every((one) => holders.some(({ userId }) => userId === one))
    })
  const peopleOf = (who: Who) => {
    if (who.members <= NAMED) return who.userIds.map(personOf)
    const counted = { shown: formatNumber(who.members), count: who.members }
    const role = roleOf(who)
    if (role !== undefined) return [texts.holdersOf(role.name, counted)]
    const rest = who.members - NAMED
    const some = who.userIds.slice(0, NAMED).map(personOf)
    return [...some, texts.others({ shown: formatNumber(rest), count: rest })]
  }
  return (who: Who) => listed([...peopleOf(who), ...(who.isAnonymous ? [texts.anonymous] : [])])
}
