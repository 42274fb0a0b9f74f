/** The term of what is planned in a request: as long as model and rights are those that it began with. */
import type { Rights } from '../../core/access/principal.ts'
import type { Eventual } from '../../core/and-then.ts'
import { PLANS_LAST, type PlanTerm } from '../../core/sql/begin/plan-term.ts'
import type { AgingSnapshot } from '../../ports.ts'

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

function isSame(some: Rights, others: Rights): boolean {
  return some === others || textOf(some) === textOf(others)
}

function textOf(rights: Rights): string {
  return JSON.stringify(rights, (_, value: unknown) =>
    value instanceof Set || value instanceof Map ? [...value] : value,
  )
}
