/** Why somebody may, or may not: of each policy and of all together what the naive rules say, caller by row by field. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import { boundsOf, explain, type Judgement } from '../../../src/core/manifest/explanation.ts'
import { and, none } from '../../../src/core/query/filter.ts'
import type { Row } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { anyRows, junction, model, names, shop, users } from './library.ts'
import { type Naive, naiveRules } from './naive.ts'
import { type ActionName, anyCaller, anyPolicies, type Caller, type Policy } from './policies.ts'
import { idsMeeting, load, rightsFor } from './service.ts'

const triples = casesOr(5_000, { share: 1 / 50 })
const knowing = { kind: 'all' } as const
const writes = ['create', 'update', 'delete'] as const satisfies readonly ActionName[]
/** Those whose rows have one number for a key. */
const numbered = names.filter((name) => name !== junction.name)

export function describeExplanations(opened: () => Opened): void {
  it(`explains what the naive rules say of ${triples} callers, rows and fields`, async () => {
    const database = opened()
    const seen = { allowed: 0, refused: 0, open: 0 }
    const count = () => seen.allowed + seen.refused
    const any = fc.tuple(anyPolicies(), anyCaller, anyRows)
    // Each combination has dozens of triples; more are drawn until there are enough.
    for (let round = 0; count() < triples; round += 1) {
      const [drawn] = fc.sample(any, { seed: seed + round, numRuns: 1 })
      if (drawn === undefined) break
      const [policies, caller, rows] = drawn
      await load(database, rows)
      const title = database.dialect.title === 'MariaDB' ? 'MariaDB' : 'PostgreSQL'
      const together = naiveRules(policies, caller, rows, title)
      const alone = policies.map((policy) => naiveRules([policy], caller, rows, title))
      for (const collection of numbered) {
        for (const field of [undefined, ...(shop.fields.get(collection)?.keys() ?? [])]) {
          const told = explained({ policies, caller }, { collection, action: 'read', field })
          const about = `read ${field} of ${collection} by ${JSON.stringify({ policies, caller, rows })}`
          const ids = (judgement: Judgement) => meeting(database, collection, judgement)
          const found = await idsMeeting(database, collection, told.findable)
          const allowed = await ids(told.together)
          const each = await Promise.all(told.policies.map(({ judgement }) => ids(judgement)))
          for (const row of rows[collection] ?? []) {
            const id = Number(row.id)
            const isAllowed = allowed.has(id) && found.has(id)
            expect(isAllowed, about).toBe(reads(together, collection, row, field))
            expect(
              each.map((met) => met.has(id)),
              about,
            ).toEqual(alone.map((rules) => reads(rules, collection, row, field)))
            seen[isAllowed ? 'allowed' : 'refused'] += 1
          }
        }
        // Whoever has the roles: each of the users is one of those.
        const { together: ofAnybody } = explained({ policies, caller, isAnybody: true }, { collection, action: 'read' })
        const [always, perhaps] = await Promise.all(
          Object.values(boundsOf(ofAnybody.kind === 'allowed' ? ofAnybody.rows : none)).map((filter) => {
            return idsMeeting(database, collection, filter)
          }),
        )
        const usersRules = users.map((userId) => naiveRules(policies, { ...caller, userId }, rows, title))
        for (const row of rows[collection] ?? []) {
          const id = Number(row.id)
          const readers = usersRules.filter((rules) => rules.isReadable(collection, row)).length
          const about = `whoever reads ${id} of ${collection} with ${JSON.stringify({ policies, caller, rows })}`
          if (always?.has(id)) expect(readers, about).toBe(users.length)
          else if (!perhaps?.has(id)) expect(readers, about).toBe(0)
          else expect(JSON.stringify(policies), about).toContain('$CURRENT_USER')
          seen.open += always?.has(id) !== perhaps?.has(id) ? 1 : 0
        }
        for (const action of writes) {
          const { kind } = explained({ policies, caller }, { collection, action, field: undefined }).together
          expect(kind === 'allowed', `${action} ${JSON.stringify(policies)}`).toBe(
            together.isAllowed(collection, action),
          )
        }
      }
    }
    console.log(`${database.dialect.title}: explained ${JSON.stringify(seen)}`)
    expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(triples / 20)
  })
}

type Asked = { readonly collection: string; readonly action: ActionName; readonly field?: string | undefined }
type Of = { readonly policies: readonly Policy[]; readonly caller: Caller; readonly isAnybody?: true }

function explained({ policies, caller, isAnybody }: Of, asked: Asked) {
  const held = policies.map((policy, at) => ({ id: `${at}`, name: `${at}`, content: parsePolicy(policy, model) }))
  const rights = rightsFor(policies, isAnybody ? { ...caller, userId: undefined } : caller, model)
  const principal = { rights, roleIds: caller.roleIds, policies: held, ...(isAnybody && { isAnybody }) }
  return explain({ ...asked, model, declared: () => undefined, callerRights: knowing, principal })
}

async function meeting(database: Opened, collection: string, judgement: Judgement): Promise<ReadonlySet<number>> {
  return judgement.kind === 'refused' ? new Set() : idsMeeting(database, collection, and([judgement.rows]))
}

function reads(rules: Naive, collection: (typeof names)[number], row: Row, field: string | undefined): boolean {
  return rules.isReadable(collection, row) && (field === undefined || rules.isSeen(collection, row, field))
}
