/** How far what somebody holds reaches, by the naive rules: rows and members for each kind of action. */
import type { Rows } from '../../property/support/rows.ts'
import type { Holding } from './delegation-world.ts'
import { membersOf, names } from './library.ts'
import { naiveRules } from './naive.ts'
import type { Policy, PolicyAction } from './policies.ts'

/** `become` is what rows may be after an update. */
export const kinds = ['read', 'create', 'update', 'become', 'delete'] as const

/** The rows that somebody reads, and what they see in them. */
export function cellsOf(holding: Pick<Holding, 'policies' | 'caller'>, rows: Rows): Set<string> {
  return reachOf(holding, rows, ['read'])
}

/** The rows and members that the policies admit somebody to for each kind of action; a read goes without its kind. */
export function reachOf(
  { policies, caller }: Pick<Holding, 'policies' | 'caller'>,
  rows: Rows,
  of: typeof kinds | ['read'],
) {
  const speaking = policies.filter(
    (policy) => caller.userId !== undefined || !JSON.stringify(policy).includes('"$CURRENT_USER"'),
  )
  const reach = new Set<string>()
  for (const kind of of) {
    const naive = naiveRules(
      speaking.map((policy) => asReads(policy, kind)),
      caller,
      rows,
    )
    const prefix = kind === 'read' ? '' : `${kind} `
    for (const name of names) {
      if (!naive.isAllowed(name, 'read')) continue
      for (const row of rows[name] ?? []) {
        if (!naive.isReadable(name, row)) continue
        reach.add(`${prefix}${name}/${row.id}`)
        const seen = membersOf(name).filter((member) => naive.isSeen(name, row, member))
        for (const member of seen) reach.add(`${prefix}${name}/${row.id}/${member}`)
      }
    }
  }
  return reach
}

/** What a policy says of one kind of action, as if it said it of reading; what items have to be is one more filter. */
function asReads({ collections }: Policy, kind: (typeof kinds)[number]): Policy {
  const reads = Object.entries(collections).flatMap(([name, actions]): [string, { read: PolicyAction }][] => {
    const action = actions?.[kind === 'become' ? 'update' : kind]
    if (action === undefined) return []
    if (action === 'all') return [[name, { read: action }]]
    const { fields = '*', filter = {}, check = filter, validation = {} } = action
    if (kind === 'update') return [[name, { read: { fields, filter } }]]
    return [[name, { read: { fields, filter: { _and: [kind === 'become' ? check : filter, validation] } } }]]
  })
  return { collections: Object.fromEntries(reads) }
}
