/** The rights that a change grants and revokes, by collection, action and fields (docs/contract.md#effect-of-a-change). */
import { isFiles, uploadingModel } from '../model/file-collection.ts'
import type { Collection, Model } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { filterText } from '../query/filter.ts'
import { type Access, type Action, actions, admits, type Grant } from './access.ts'
import { type Entitlement, entitlementSchema } from './entitlement.ts'
import { viewerOf } from './merge.ts'
import { hasEntitlement, type Rights } from './principal.ts'

/**
 * `fields` is absent for all fields, and for a deletion. `items` is `all` if afterwards every item is allowed without any
 * condition, and `some` if the right is granted with conditions, or was unconditional before; otherwise absent.
 */
export type Effect =
  | { readonly entitlement: Entitlement }
  | {
      readonly collection: string
      readonly action: Action
      readonly fields?: readonly string[]
      readonly items?: 'all' | 'some'
    }

/** `changed`: allowed before and after, with other items or under other conditions. */
export type EffectKind = 'granted' | 'revoked' | 'changed'
export type Effects = Readonly<Record<EffectKind, readonly Effect[]>>

/** Returns the effects on one principal, in the order of the model. */
export function* effectsOf(before: Rights, after: Rights, own: Model): Parts<Effects> {
  const model = uploadingModel(own)
  const [was, is] = [viewerOf(before, model), viewerOf(after, model)]
  const found: Record<EffectKind, Effect[]> = { granted: [], revoked: [], changed: [] }
  for (const entitlement of entitlementSchema().options) {
    const kind = kindOf(...both([before, after], (rights) => (hasEntitlement(rights, entitlement) ? '' : undefined)))
    if (kind !== undefined) found[kind].push({ entitlement })
  }
  for (const collection of model.collections.values()) {
    if (collection.isSystem && !isFiles(collection)) continue
    for (const action of actions) {
      yield
      const accesses = [was.accessTo(collection, action), is.accessTo(collection, action)] as const
      for (const [kind, effect] of effectsOn(collection, action, accesses)) found[kind].push(effect)
    }
  }
  return found
}

type Pair<T> = readonly [before: T, after: T]

function both<T, R>([before, after]: Pair<T>, of: (one: T) => R): Pair<R> {
  return [of(before), of(after)]
}

function effectsOn(
  { apiName: collection, fields }: Collection,
  action: Action,
  accesses: Pair<Access>,
): readonly (readonly [EffectKind, Effect])[] {
  const terms = both(accesses, termsOf)
  const whole = changeOf(both(terms, (of) => of(() => true)))
  if (action === 'delete') return whole === undefined ? [] : [[whole.kind, { collection, action, ...whole.of }]]
  const changes = new Map<string, ChangeOfTerms & { readonly names: string[] }>()
  for (const [name, field] of fields) {
    const change = changeOf(both(terms, (of) => of((grant) => admits(grant, field.id))))
    if (change === undefined) continue
    const text = JSON.stringify(change)
    const known = changes.get(text) ?? { ...change, names: [] }
    known.names.push(name)
    changes.set(text, known)
  }
  if (changes.size === 0)
    return whole === undefined ? [] : [[whole.kind, { collection, action, fields: [], ...whole.of }]]
  return [...changes.values()].map(({ kind, of, names }) => [
    kind,
    { collection, action, ...(names.length < fields.size && { fields: names }), ...of },
  ])
}

type ChangeOfTerms = { readonly kind: EffectKind; readonly of: { readonly items?: 'all' | 'some' } }

function changeOf([before, after]: Pair<string | undefined>): ChangeOfTerms | undefined {
  const kind = kindOf(before, after)
  if (kind === undefined) return undefined
  if (kind === 'revoked') return { kind, of: {} }
  const items = after === FREE ? 'all' : kind === 'granted' || before === FREE ? 'some' : undefined
  return { kind, of: items === undefined ? {} : { items } }
}

function kindOf(before: string | undefined, after: string | undefined): EffectKind | undefined {
  if (before === after) return undefined
  if (before === undefined) return 'granted'
  return after === undefined ? 'revoked' : 'changed'
}

/** The terms of an unconditional right to every item. */
const FREE = 'free'

function isFree({ rows, check, validation }: Grant): boolean {
  return rows.kind === 'all' && (check === undefined || check.kind === 'all') && validation.kind === 'all'
}

/** Returns the combined terms of the grants that allow something; undefined if none allows it. */
function termsOf(access: Access): (allows: (grant: Grant) => boolean) => string | undefined {
  if (access.kind === 'denied') return () => undefined
  const { grants } = access
  const texts = grants.map(({ rows, check, validation }) =>
    JSON.stringify([filterText(rows), check && filterText(check), filterText(validation)]),
  )
  // Cached, because most fields have the same terms.
  const known = new Map<string, string>()
  return (allows) => {
    const allowing = grants.flatMap((grant, place) => (allows(grant) ? [place] : []))
    if (allowing.length === 0) return undefined
    // An unconditional grant makes the terms of other grants irrelevant.
    if (allowing.some((place) => isFree(grants[place] as Grant))) return FREE
    const path = allowing.join()
    const terms = known.get(path) ?? JSON.stringify([...new Set(allowing.map((place) => texts[place]))].sort())
    known.set(path, terms)
    return terms
  }
}
