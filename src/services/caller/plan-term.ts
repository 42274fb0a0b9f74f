/** The term of what is planned in a request: as long as model and rights are those that it began with. */
import type { Rights } from '../../core/access/principal.ts'
import type { Eventual } from '../../core/and-then.ts'
import { PLANS_LAST, type PlanTerm } from '../../core/sql/begin/plan-term.ts'
import type { AgingSnapshot } from '../../ports/workspace-state.ts'

type Seen = { readonly snapshot: AgingSnapshot; readonly rights: Rights }

/**
 * `again` returns what the request would see now; what it throws, `renew` throws. Rights that were loaded anew and are the
 * same do not end the term: the version of rights is that of the whole instance. Nor does a change of the model where
 * `isUntouched` says, later than `again`, that it has left alone what the plan leads to.
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

/** Whether both are made of the same; what is one object is not looked into. */
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
