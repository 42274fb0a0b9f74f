/**
 * The checks around an update (docs/contract.md#how-policies-act): the caller must be allowed to change each row, and to
 * produce its new state. If policies allow several ways to change, the rows are divided before the change by the ways that are
 * open to them.
 */
import { type Granted, type Way, waysToChange } from '../access/access.ts'
import { ServiceError } from '../error.ts'
import type { PrimitiveField, RelationField } from '../model/model.ts'
import { and, type Filter, isTrue, not, unite } from '../query/filter.ts'
import { isPlaceholder } from '../query/placeholder.ts'
import { mayBeEqual } from '../query/text-order.ts'
import type { Slot } from './plan.ts'
import { addChecks, addPart, type Program } from './program.ts'

/** Maximum number of such parts: policies whose filters exclude each other make one part each. */
const MOST_PARTS = 32

/**
 * Adds the checks of the slot's rows before these fields are written. Returns a function that adds the checks afterwards,
 * without the parts that depend on `later` relations. Throws 422 if too many policies with a check overlap.
 */
export function addUpdateChecks(
  program: Program,
  slot: Slot,
  { access, given }: { readonly access: Granted; readonly given: readonly string[] },
): (later?: readonly RelationField[]) => void {
  const lists = waysToChange(access, given)
  const before = and(lists.map((ways) => unite(ways.map((way) => way.before))))
  addChecks(program, slot, { action: 'update', forbidden: before })
  const single = lists.flatMap((ways) => (ways.length === 1 ? ways : []))
  const parts = lists
    .filter((ways) => ways.length > 1)
    .flatMap((ways) => partsOf(ways).map(({ where, open }) => ({ part: addPart(program, slot, where), open })))
  return (later = []) => {
    const left = and(single.map(({ after }) => after))
    const invalid = and(single.map(({ valid }) => valid))
    addChecks(program, slot, { action: 'update', left, invalid }, later)
    for (const { part, open } of parts) {
      const left = unite(open.map(({ after }) => after))
      const invalid = unite(open.map(({ valid }) => valid))
      addChecks(program, part, { action: 'update', left, invalid }, later)
    }
  }
}

/** Rows for which exactly these ways are open. */
type Part = { readonly where: Filter; readonly open: readonly Way[] }

/** All sets of ways that may be open to one row. */
function partsOf(ways: readonly Way[]): readonly Part[] {
  let sets: readonly (readonly Way[])[] = [[]]
  for (const way of ways) {
    sets = sets.flatMap((set) => (set.some((one) => excludes(one.before, way.before)) ? [set] : [set, [...set, way]]))
    if (sets.length > MOST_PARTS) throw new ServiceError('invalid', 'Too many policies with a check allow this update')
  }
  return sets
    .filter((open) => open.length > 0)
    .map((open) => {
      const others = ways.filter((way) => !open.includes(way) && !open.some((one) => excludes(one.before, way.before)))
      const where = [...open.map(({ before }) => before), ...others.map(({ before }) => not(isTrue(before)))]
      return { where: and(where), open }
    })
}

/** True if no row meets both filters, judged by the values that they compare a field with. */
function excludes(one: Filter, other: Filter): boolean {
  return testsOf(one).some(({ field, operands }) =>
    testsOf(other).some(
      (test) =>
        test.field.id === field.id &&
        !test.operands.some((text) => operands.some((own) => mayBeEqual(field, own, text))),
    ),
  )
}

type Test = { readonly field: PrimitiveField; readonly operands: readonly string[] }

function testsOf(filter: Filter): readonly Test[] {
  if (filter.kind === 'and') return filter.filters.flatMap(testsOf)
  if (filter.kind === 'in' && !filter.negated) return [{ field: filter.field, operands: filter.operands }]
  if (filter.kind !== 'compare' || filter.operator !== '=' || isPlaceholder(filter.operand)) return []
  return [{ field: filter.field, operands: [filter.operand] }]
}
