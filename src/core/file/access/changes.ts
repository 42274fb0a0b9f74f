/** What an apply does with roles and policies: its operations, and the rights that roles gain and lose by them. */
import { comparedFields, presentPolicy } from '../../access/policy.ts'
import type { Model } from '../../model/model.ts'
import { requireFewRights } from '../operations/size.ts'
import { shortContent } from '../short-form.ts'
import { sortedJson } from '../sorted-json.ts'
import type { AccessRecords, PolicyRecord } from './records.ts'

export type Right = {
  readonly role: string
  readonly policy: string
  readonly collection?: string
  readonly action?: string
  readonly entitlement?: string
}

export type Side = { readonly access: AccessRecords; readonly model: Model }

export type AccessOperation = {
  readonly kind: `${'create' | 'update' | 'delete'}${'Role' | 'Policy'}`
  readonly data: { readonly id: string; readonly name: string; readonly [member: string]: unknown }
}

/** Rights by what they are, with all that says how far each one goes; undefined where it goes another way than before. */
type Held = ReadonlyMap<string, { readonly right: Right; readonly extent: string | undefined }>

export type ChangedRights = { readonly granted: readonly Right[]; readonly revoked: readonly Right[] }

/** `affected` are the ids of fields that conditions compare in another way. */
export function accessRights(before: Side, after: Side, affected: ReadonlyMap<string, unknown>): ChangedRights {
  const [was, is] = [rightsOf(before, after, affected), rightsOf(after, before, affected)]
  const rightsOnlyIn = (one: Held, other: Held) =>
    [...one].flatMap(([key, { right, extent }]) =>
      extent !== undefined && other.get(key)?.extent === extent ? [] : [right],
    )
  return { granted: rightsOnlyIn(is, was), revoked: rightsOnlyIn(was, is) }
}

/** The rights of a side that are not those of the other just as well: what did not change is the same object. */
function rightsOf({ access, model }: Side, other: Side, affected: ReadonlyMap<string, unknown>): Held {
  const policies = new Map(access.policies.map((policy) => [policy.id, policy]))
  const known = new Set<object>([...other.access.roles, ...other.access.policies])
  const isKept = (id: string) => model.collections.has(id) === other.model.collections.has(id)
  const isOtherwise = (collections: PolicyRecord['content']['collections']) =>
    affected.size > 0 && [...comparedFields({ collections })].some((id) => affected.has(id))
  const isUnchanged = ({ collections }: PolicyRecord['content']) =>
    Object.keys(collections).every(isKept) && !isOtherwise(collections)
  const unchanged = new Set(access.policies.filter((policy) => known.has(policy) && isUnchanged(policy.content)))
  const held = new Map<string, { right: Right; extent: string | undefined }>()
  for (const role of access.roles) {
    for (const id of role.policyIds) {
      const policy = policies.get(id)
      if (policy === undefined || (known.has(role) && unchanged.has(policy))) continue
      const { entitlements, collections } = policy.content
      requireFewRights(held.size)
      const who = { role: role.name, policy: policy.name }
      for (const entitlement of entitlements) {
        held.set(`${role.id} ${id} ${entitlement}`, { right: { ...who, entitlement }, extent: '' })
      }
      for (const [collectionId, actions] of Object.entries(collections)) {
        const collection = model.collections.get(collectionId)?.apiName
        if (collection === undefined) continue
        for (const [action, content] of Object.entries(actions)) {
          if (content === undefined) continue
          const right = { ...who, collection, action }
          const extent = isOtherwise({ [collectionId]: { [action]: content } }) ? undefined : sortedJson(content)
          held.set(`${role.id} ${id} ${collectionId} ${action}`, { right, extent })
        }
      }
    }
  }
  return held
}

/** In the order in which they run. */
export function accessOperations(before: Side, after: Side): readonly AccessOperation[] {
  const [was, is] = [before.access, after.access]
  const names = new Map(is.policies.map(({ id, name }) => [id, name]))
  return [
    ...changesOf(was.policies, is.policies, 'Policy', (policy: PolicyRecord) => {
      const { entitlements, collections } = shortContent(presentPolicy(policy.content, after.model))
      const { description } = policy
      return { description, content: { entitlements, collections: Object.fromEntries(collections) } }
    }),
    ...changesOf(was.roles, is.roles, 'Role', ({ description, policyIds }) => ({
      description,
      policies: policyIds.flatMap((id) => names.get(id) ?? []).sort(),
    })),
  ]
}

type Item = { readonly id: string; readonly name: string }

function changesOf<T extends Item>(
  before: readonly T[],
  after: readonly T[],
  what: 'Role' | 'Policy',
  dataOf: (item: T) => object,
): readonly AccessOperation[] {
  const was = new Map(before.map((item) => [item.id, item]))
  const is = new Set(after.map(({ id }) => id))
  return [
    ...before
      .filter(({ id }) => !is.has(id))
      .map(({ id, name }): AccessOperation => ({ kind: `delete${what}`, data: { id, name } })),
    ...after
      .filter((item) => was.get(item.id) !== item)
      .map((item): AccessOperation => {
        const kind = was.has(item.id) ? (`update${what}` as const) : (`create${what}` as const)
        return { kind, data: { id: item.id, name: item.name, ...dataOf(item) } }
      }),
  ]
}
