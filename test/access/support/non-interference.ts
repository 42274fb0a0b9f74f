/**
 * What a caller may not see makes no difference: two fillings of the tables in which they see the same give byte-equal
 * answers, and the same status to every write that they may do in both.
 */

import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import { type AggregateDraft, argumentsOf } from '../../property/support/aggregates.ts'
import { type ListDraft, listArguments } from '../../property/support/list-aggregates.ts'
import { searchOf } from '../../property/support/reading.ts'
import type { Draft, Request } from '../../property/support/request.ts'
import type { Row, Rows } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { anyDrafts, anyListDrafts, readableShop } from './aggregates.ts'
import { anyCase, type Case } from './agreement.ts'
import { anyValue, identified, junction, links, membersOf, type Name, names, shop } from './library.ts'
import { naiveRules } from './naive.ts'
import { type Outcome, type Player, playWrites, toldOf } from './plays.ts'
import { load, openService, type Reply, type Service } from './service.ts'
import { withTags } from './tags.ts'

const cases = Math.ceil(casesOr(1000, { share: 1 / 25 }) / 4)

export function describeNonInterference(opened: () => Opened): void {
  it(`tells nothing of what a caller may not see, in ${cases} pairs of fillings`, async () => {
    const told = { changes: 0, writes: 0, keys: 0, replays: 0 }
    const property = fc.asyncProperty(
      anyPair,
      async ({ policies, caller, rows, drafts, aggregates, lists, write, changes }) => {
        const database = opened()
        const service = openService(database, policies, caller)
        const { others, count } = unseen({ policies, caller, rows }, changes)
        told.changes += count
        const replies = async (filling: Rows) => {
          await load(database, filling)
          const read = []
          for (const draft of drafts)
            read.push(
              await service.draft(draft),
              await service.draft(withTags(draft)),
              ...(await besideCursors(service, draft)),
            )
          for (const draft of aggregates) read.push(await service.aggregate(draft.collection, argumentsOf(draft)))
          for (const draft of lists)
            read.push(await service.list(draft.collection, () => parseListArguments(listArguments(draft, 'alone'))))
          return { read, writes: await writesOf({ database, policies, caller, service }, filling) }
        }
        const writesOf = async (who: Player, filling: Rows): Promise<readonly Outcome[]> => {
          told.keys += 1
          const played = await playWrites(who, filling, { write, reads: [...drafts, ...lists], key: `${told.keys}` })
          told.replays += played.filter(({ isReplayed }) => isReplayed).length
          return played
        }

        const one = await replies(rows)
        const other = await replies(others)

        expect(other.read, drafts.map((draft) => `${draft.collection}?${searchOf(draft)}`).join(' ')).toEqual(one.read)
        const rules = [rows, others].map((filling) => naiveRules(policies, caller, filling).write(write))
        const [mayOne, mayOther] = rules.map(({ answer }) => answer.status)
        const isDenied = [mayOne, mayOther].some((status) => status === 403 || status === 422)
        // A right may hang on what its holder does not see; then having it or not is what they may do.
        if (mayOne !== mayOther && isDenied) return
        told.writes += 1
        // The database looks for a key before a condition that leads over relations can be looked at.
        const isTaken = rules.some((rule) => rule.isTaken)
        const [shown, hidden] = [one, other].map(({ writes }) => writes.map((outcome) => toldOf(outcome, isTaken)))
        expect(hidden, JSON.stringify(write)).toEqual(shown)
      },
    )
    await fc.assert(property, { seed, numRuns: cases })
    console.log(
      `${opened().dialect.title}: ${told.changes} unseen changes, ${told.writes} writes compared, ${told.replays} answered again`,
    )
    expect(told.changes).toBeGreaterThan(cases)
    expect(told.replays).toBeGreaterThan(0)
  })
}

/** A page by cursor, those beside it, and some behind and before cursors that somebody made up. */
async function besideCursors(service: Service, draft: Draft): Promise<readonly Reply[]> {
  const { offset: _, ...request } = draft.request
  const page = (from: Pick<Request, 'after' | 'before'>) =>
    service.draft({ ...draft, request: { ...request, ...from, limit: 2, meta: 'cursor' } })
  const first = await page({})
  const next = first.cursors?.next
  if (typeof next !== 'string') return [first]
  const [version, digest, value, ...rest] = JSON.parse(Buffer.from(next, 'base64url').toString())
  const guesses = [null, 'a', 2, value].map((one) => cursorOf([version, digest, one, ...rest]))
  const replies = [first]
  for (const cursor of guesses) replies.push(await page({ after: cursor }), await page({ before: cursor }))
  return replies
}

function cursorOf(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

type Change =
  | { readonly kind: 'value'; readonly collection: Name; readonly index: number; readonly values: Row }
  | { readonly kind: 'more'; readonly collection: Name; readonly id: number; readonly values: Row }
  | { readonly kind: 'fewer'; readonly collection: Name; readonly index: number }

type Pair = Case & {
  readonly aggregates: readonly AggregateDraft[]
  readonly lists: readonly ListDraft[]
  readonly changes: readonly Change[]
}

const anyPair: Arbitrary<Pair> = fc
  .tuple(
    anyCase(3, [501, 502, 503, 504]),
    fc.array(fc.constantFrom(...names).chain(anyChangeOf), { minLength: 6, maxLength: 12 }),
  )
  .chain(([one, changes]) => {
    const readable = readableShop(one.policies, one.caller, one.rows)
    const [drafts, lists] = [anyDrafts(readable), anyListDrafts(readable)]
    return fc
      .tuple(fc.tuple(drafts, drafts), fc.tuple(lists, lists))
      .map(([aggregates, listed]): Pair => ({ ...one, aggregates, lists: listed, changes }))
  })

export function anyChangeOf(collection: Name): Arbitrary<Change> {
  const references = links.filter(({ child }) => child === collection).map(({ column }) => column)
  const fields = [...(shop.fields.get(collection)?.keys() ?? [])].filter(
    (name) => name !== 'id' && !references.includes(name),
  )
  const value = fc.constantFrom(...fields).chain((name) => anyValue(collection, name).map((one) => ({ [name]: one })))
  const whole = fc.record(Object.fromEntries(fields.map((name) => [name, anyValue(collection, name)])))
  const index = fc.integer({ min: 0, max: 4 })
  const changed = fc
    .tuple(index, value)
    .map(([at, values]): Change => ({ kind: 'value', collection, index: at, values }))
  const fewer = index.map((at): Change => ({ kind: 'fewer', collection, index: at }))
  if (collection === junction.name) {
    const key = fc.integer({ min: 1, max: 5 })
    const link = fc.record({ personId: key, postId: key, mark: anyValue(collection, 'mark') }).map((row): Change => {
      const values = identified(collection, row)
      return { kind: 'more', collection, id: Number(values.id), values }
    })
    return fc.oneof(changed, link, link, fewer)
  }
  const more = fc.tuple(fc.integer({ min: 901, max: 999 }), whole).map(([id, values]): Change => {
    return {
      kind: 'more',
      collection,
      id,
      values: { ...values, ...Object.fromEntries(references.map((name) => [name, null])) },
    }
  })
  // A badge needs a person, whose end it would stand in the way of.
  const rows =
    collection === 'badges'
      ? []
      : [
          { weight: 1, arbitrary: more },
          { weight: 1, arbitrary: fewer },
        ]
  return fc.oneof({ weight: 4, arbitrary: changed }, ...rows)
}

/** All changes, one after the other, that make no difference to what the caller sees. */
function unseen(
  { policies, caller, rows }: Pick<Case, 'policies' | 'caller' | 'rows'>,
  changes: readonly Change[],
): { readonly others: Rows; readonly count: number } {
  const viewed = (filling: Rows) => {
    const naive = naiveRules(policies, caller, filling)
    const views = names.map((name) =>
      (filling[name] ?? [])
        .filter((row) => naive.isReadable(name, row))
        .map((row) =>
          membersOf(name)
            .map((member) => (naive.isSeen(name, row, member) ? (row[member] ?? 'seen') : 'unseen'))
            .concat([row.id]),
        )
        .toSorted((one, other) => Number(one.at(-1)) - Number(other.at(-1))),
    )
    return JSON.stringify(views)
  }
  const view = viewed(rows)
  let others = rows
  let count = 0
  for (const change of changes) {
    const changed = applied(others, change)
    if (changed === undefined || viewed(changed) !== view) continue
    others = changed
    count += 1
  }
  const reversed = Object.fromEntries(Object.entries(others).map(([name, items]) => [name, items.toReversed()]))
  return { others: reversed, count }
}

export function applied(rows: Rows, change: Change): Rows | undefined {
  const { collection } = change
  const items = rows[collection] ?? []
  if (change.kind === 'more') {
    const isLinked = links
      .filter(({ child, column }) => child === collection && change.values[column] !== null)
      .every(({ column, parent }) => (rows[parent] ?? []).some(({ id }) => id === change.values[column]))
    return items.some(({ id }) => id === change.id) || !isLinked
      ? undefined
      : { ...rows, [collection]: [...items, { id: change.id, ...change.values }] }
  }
  const row = items[change.index]
  if (row === undefined) return undefined
  if (change.kind === 'value') {
    return { ...rows, [collection]: items.map((one) => (one === row ? { ...row, ...change.values } : one)) }
  }
  const isTied = links.some(({ child, parent, column }) => {
    // What a link of the junction refers to may go when it has gone: the naive rules know of that.
    const refers = child === collection && collection !== junction.name && row[column] !== null
    return refers || (parent === collection && (rows[child] ?? []).some((one) => one[column] === row.id))
  })
  return isTied ? undefined : { ...rows, [collection]: items.filter((one) => one !== row) }
}
