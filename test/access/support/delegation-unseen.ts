/**
 * What a giver is told by what they gave, by the naive rules: rows are changed in cells that the giver does not see, and
 * whatever was given must admit to the same rows as before.
 */

import type { Rows } from '../../property/support/rows.ts'
import { type Holding, people } from './delegation-world.ts'
import { junction, type Name, names, shop, valuesOf } from './library.ts'
import { naiveRules } from './naive.ts'
import type { Caller, Policy } from './policies.ts'

/**
 * One cell with another value that the giver does not see, of those that what was given speaks of; or without a link of
 * the junction that the giver does not see.
 */
export function* unseenChanges(before: Holding, after: readonly Holding[], rows: Rows): Generator<Rows> {
  const naive = naiveRules(before.policies, before.caller, rows)
  const given = JSON.stringify(after.map(({ policies }) => policies))
  // An `_or` with `$CURRENT_USER`, given as it is, tells which of its parts admits the giver (docs/decisions/042, Limits).
  const unnamed = { ...before, caller: { ...before.caller, userId: people.creature } }
  const heldOf = (filling: Rows) => [admittedBy(before, filling), admittedBy(unnamed, filling)].join()
  const held = heldOf(rows)
  for (const name of names) {
    for (const [field, { isNullable }] of shop.fields.get(name) ?? []) {
      if (field.toLowerCase().endsWith('id') && field !== 'userId') continue
      if (!given.includes(`"${field}":`)) continue
      for (const row of rows[name] ?? []) {
        if (naive.isSeen(name, row, field)) continue
        for (const value of [...valuesOf(name, field), ...(isNullable ? [null] : [])]) {
          if (value === row[field]) continue
          const changed = {
            ...rows,
            [name]: (rows[name] ?? []).map((one) => (one === row ? { ...one, [field]: value } : one)),
          }
          if (heldOf(changed) === held) yield changed
        }
      }
    }
  }
  for (const link of rows[junction.name] ?? []) {
    if (naive.isReadable(junction.name, link)) continue
    const changed = { ...rows, [junction.name]: (rows[junction.name] ?? []).filter((one) => one !== link) }
    if (heldOf(changed) === held) yield changed
  }
}

/** Which rows each action admits to, by itself and with what it demands of an item. */
export function admittedBy({ policies, caller }: Pick<Holding, 'policies' | 'caller'>, rows: Rows): string {
  return JSON.stringify(singleActions(policies).map((policy) => admitted(policy, caller, rows)))
}

/** Every action as a read. */
function singleActions(policies: readonly Policy[]): readonly (readonly [Name, Policy])[] {
  return policies.flatMap(({ collections }) =>
    Object.entries(collections).flatMap(([name, actions]) =>
      Object.values(actions ?? {}).flatMap((action) => {
        if (action === 'all') return []
        const { filter = {}, check = {}, validation = {} } = action
        // One that demands nothing admits every row, and tells nothing.
        const trees = Object.keys(validation).length === 0 ? [filter] : [filter, { _and: [filter, validation] }]
        return [...trees, check]
          .filter((tree) => Object.keys(tree).length > 0)
          .map((tree) => [name as Name, { collections: { [name]: { read: { filter: tree } } } }] as const)
      }),
    ),
  )
}

function admitted([name, policy]: readonly [Name, Policy], caller: Caller, rows: Rows): unknown {
  const naive = naiveRules([policy], caller, rows)
  return (rows[name] ?? []).filter((row) => naive.isReadable(name, row)).map(({ id }) => id)
}
