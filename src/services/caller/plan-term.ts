/** The validity of a plan: as long as model and rights are the same as when the request began. */
import type { Rights } from '../../core/access/principal.ts'
import type { Eventual } from '../../core/and-then.ts'
import { PLANS_LAST, type PlanTerm } from '../../core/sql/begin/plan-term.ts'
import type { AgingSnapshot } from '../../ports/workspace-state.ts'

type Seen = { readonly snapshot: AgingSnapshot; readonly rights: Rights }

/**
 * `again` returns the current scope of the request; `renew` throws what `again` throws. Reloaded rights that are equal keep the
 * plan valid, because the access version is shared by the whole instance. So does a change of the model if `isUntouched`,
 * called after `again`, returns true: the change does not affect the plan.
 */
export function planTermOf(
  { snapshot, rights }: Seen,
  again: () => Eventual<Seen>,
  isUntouched: () => Promise<boolean> = async () => false,
): PlanTerm {
  let youngest = snapshot
  return {
    isOver: () => youngest.age() > PLANS_LAST,
    async renew() {
      const now = await again()
      if (!isSame(now.rights, rights)) return false
      if (now.snapshot.modelVersion !== snapshot.modelVersion && !(await isUntouched())) return false
      youngest = now.snapshot
      return true
    },
  }
}

/** Deep equality; identical objects are not compared further. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const [some, others] = [membersOf(one), membersOf(other)]
  return (
    some.length === others.length &&
    some.every(([name, value], at) => name === others[at]?.[0] && isSame(value, others[at]?.[1]))
  )
}

function membersOf(value: object): readonly (readonly [unknown, unknown])[] {
  return value instanceof Set || value instanceof Map ? [...value.entries()] : Object.entries(value)
}
