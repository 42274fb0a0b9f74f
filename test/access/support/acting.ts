/**
 * Reading as somebody else: what that principal gets, cut to the rights of whoever asks. The naive rules have of both one policy for
 * each pair of theirs, with the rows of both and the fields of both.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { viewerOf } from '../../../src/core/access/merge.ts'
import { searchOf } from '../../property/support/reading.ts'
import { anyDraft, type Request, requestOf, type Tree } from '../../property/support/request.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { expectSame } from './agreement.ts'
import { anyRows, membersOf, model, type Name, names, shop, stockOf } from './library.ts'
import { bound, naiveRules } from './naive.ts'
import { anyCaller, anyPolicies, type Caller, narrowed, type Policy } from './policies.ts'
import { load, rightsFor, serviceOf } from './service.ts'

const requests = casesOr(5_000, { share: 1 / 50 })
const EACH = 5
const BEYOND = 'You may not read all that decides this'

type Side = { readonly policies: readonly Policy[]; readonly caller: Caller }

export function describeActing(opened: () => Opened): void {
  it(`shows as somebody else what both read, in ${requests} requests`, async () => {
    const database = opened()
    const seen = new Map<number, number>()
    const side = fc.record({ policies: anyPolicies(), caller: anyCaller })
    const any = fc.tuple(side, side, anyRows).chain(([asker, target, rows]) => {
      const both = naiveRules(paired(asker, target), asker.caller, rows)
      const readable = narrowed((collection) => both.members(collection, 'read'))
      const open = readable.fields.size === 0 ? shop : readable
      const drafts = fc.array(anyDraft(stockOf(open), [...open.fields.keys()]), { minLength: EACH, maxLength: EACH })
      return fc.record({ asker: fc.constant(asker), target: fc.constant(target), rows: fc.constant(rows), drafts })
    })
    const property = fc.asyncProperty(any, async ({ asker, target, rows, drafts }) => {
      await load(database, rows)
      const rights = {
        kind: 'scoped',
        rights: rightsFor(target.policies, target.caller, model),
        entitlements: new Set<never>(),
        collections: undefined,
        within: rightsFor(asker.policies, asker.caller, model),
      } as const
      const title = database.dialect.title === 'MariaDB' ? 'MariaDB' : 'PostgreSQL'
      const naive = naiveRules(paired(asker, target), asker.caller, rows, title)
      for (const draft of drafts) {
        const service = serviceOf(database, viewerOf(rights, model))
        const reply = await service.draft(draft)
        const asked = requestOf<Request>(draft.request, 0, 'value')
        const expected = naive.list(draft.collection as Name, asked, draft.limits)
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1)
        const told = `${draft.form} ${draft.collection}?${searchOf(draft)} ${JSON.stringify({ asker, target })}`
        // A condition may ask about more than whoever asks reads: then there is no answer (decision 090).
        if (reply.status === 403 && expected.status === 200) {
          expect([hasCondition(target), reply.text.split(' > ')[0]], told).toEqual([true, BEYOND])
          continue
        }
        const { status, text, total } = reply
        const shape = {
          status,
          ...(status === 200 && { data: JSON.parse(text) }),
          ...(total !== undefined && { total }),
        }
        expectSame(shape, expected, told)
      }
    })
    await fc.assert(property, { seed, numRuns: Math.ceil(requests / EACH) })
    console.log(`${database.dialect.title}: acted ${JSON.stringify([...seen])}`)
    expect(seen.get(200) ?? 0).toBeGreaterThan(requests / 10)
  })
}

/** A policy for each policy of the one with each of the other, for reading. */
function paired(asker: Side, target: Side): readonly Policy[] {
  return speaking(asker).flatMap((own) =>
    speaking(target).map((other) => ({
      entitlements: own.entitlements ?? [],
      collections: Object.fromEntries(
        names.flatMap((name) => {
          const [one, two] = [partOf(own, name, asker.caller), partOf(other, name, target.caller)]
          if (one === undefined || two === undefined) return []
          const fields = one.fields.filter((field) => two.fields.includes(field))
          return [[name, { read: { fields, filter: both(one.filter, two.filter) } }] as const]
        }),
      ),
    })),
  )
}

/** To whoever has no account, a policy that names one gives nothing. */
function speaking({ policies, caller }: Side): readonly Policy[] {
  return policies.filter(
    ({ collections }) => caller.userId !== undefined || !JSON.stringify(collections).includes('"$CURRENT_USER"'),
  )
}

function partOf({ collections }: Policy, name: Name, caller: Caller) {
  const read = collections[name]?.read
  if (read === undefined) return undefined
  const { fields = '*', filter = {} }: { fields?: '*' | readonly string[]; filter?: Tree } = read === 'all' ? {} : read
  return { fields: fields === '*' ? membersOf(name) : fields, filter: bound(filter, caller) }
}

function both(one: Tree, other: Tree): Tree {
  if (Object.keys(one).length === 0) return other
  return Object.keys(other).length === 0 || JSON.stringify(one) === JSON.stringify(other) ? one : { _and: [one, other] }
}

function hasCondition({ policies }: Side): boolean {
  return policies.some(({ collections }) =>
    names.some((name) => {
      const read = collections[name]?.read
      return typeof read === 'object' && Object.keys(read.filter ?? {}).length > 0
    }),
  )
}
