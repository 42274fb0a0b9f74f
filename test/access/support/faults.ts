/**
 * A fault at each index of random batches: of whichever kind it is and wherever it stands, it is told with its index and
 * its place, nothing of the batch is left, and no key remembers it.
 */
import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import type { Row, Rows } from '../../property/support/rows.ts'
import { seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import type { Opened } from './access.ts'
import { expectSame, scopeOf } from './agreement.ts'
import { runBatch } from './batch.ts'
import { type Act, anyAct, everyRight, operationOf, possible } from './batches.ts'
import { anyRows } from './library.ts'
import { naiveRules } from './naive.ts'
import { anyCaller, type Caller, type Policy } from './policies.ts'
import { dump, load } from './service.ts'
import { everything } from './writes.ts'

/** Each runs a batch for each of its operations. */
const cases = Math.ceil(casesOr(40) / 4)

/** Rows that nobody of these tests can change or delete. */
const fixed: readonly Row[] = [95, 96].map((id) => ({ id, name: null, team: null, userId: null, since: null }))
const isFixed = { id: { _nin: [95, 96] } }

/** Everything, but what makes some of the faults. Who may read the model is told what is unknown in it. */
const guarded: Policy = {
  entitlements: ['dataModel:read'],
  collections: {
    ...everyRight.collections,
    people: { ...everyRight.collections.people, update: { filter: isFixed }, delete: { filter: isFixed } },
    notes: { ...everyRight.collections.notes, create: { validation: { kind: { _neq: 'refused' } } } },
    badges: { ...everyRight.collections.badges, delete: undefined },
  } as Policy['collections'],
}

type Fault = {
  readonly name: string
  readonly operation: object
  readonly status: number
  /** Below its operation; where it is undefined, only the index is told. */
  readonly place?: string
  readonly reason: string
}

const change = { kind: 'update', collection: 'people' }
const faults: readonly Fault[] = [
  {
    name: 'a validation',
    operation: {
      kind: 'create',
      collection: 'notes',
      data: [
        { id: 94, kind: 'a' },
        { id: 95, kind: 'refused' },
      ],
    },
    status: 422,
    reason: 'Validation failed',
  },
  { name: 'a denied action', operation: { kind: 'delete', collection: 'badges' }, status: 403, reason: '' },
  { name: 'a row of others', operation: { ...change, key: 95, data: { name: 'a' } }, status: 403, reason: '' },
  {
    name: 'a key that is taken',
    operation: { kind: 'create', collection: 'people', data: [{ id: 94 }, { id: 95 }] },
    status: 422,
    reason: 'Unique constraint failed',
  },
  {
    name: 'a reference to nothing',
    operation: { kind: 'create', collection: 'badges', data: [{ id: 95, label: 'a', personId: -1 }] },
    status: 422,
    reason: 'Foreign key constraint failed',
  },
  {
    name: 'an unknown field',
    operation: { kind: 'create', collection: 'notes', data: [{ id: 95, kind: 'a' }, { nothing: 1 }] },
    status: 422,
    place: '.data[1].nothing',
    reason: '',
  },
  {
    name: 'a value of another type',
    operation: { ...change, key: 95, data: { since: 'today' } },
    status: 422,
    place: '.data.since',
    reason: '',
  },
  {
    name: 'a stale tag',
    operation: { ...change, key: 95, ifMatch: 'A'.repeat(22), data: { name: 'a' } },
    status: 412,
    reason: 'changed since it was read',
  },
  {
    name: 'an unknown key to read',
    operation: { kind: 'read', collection: 'posts', key: -1 },
    status: 404,
    reason: '',
  },
  {
    name: 'an unknown key to delete',
    operation: { kind: 'delete', collection: 'posts', key: -1 },
    status: 404,
    reason: '',
  },
  {
    name: 'an unknown key in a list',
    operation: { kind: 'update', collection: 'notes', data: [{ id: -1, kind: 'a' }] },
    status: 404,
    place: '.data[0]',
    reason: '',
  },
  {
    name: 'more than max',
    operation: { ...change, filter: { id: { _in: [95, 96] } }, max: 1, data: { name: 'a' } },
    status: 422,
    place: '.max',
    reason: 'more than 1',
  },
  {
    name: 'an unknown name',
    operation: { ...change, key: { $ref: 'nobody.id' }, data: { name: 'a' } },
    status: 422,
    place: '.key',
    reason: '',
  },
  {
    name: 'an unknown field to read',
    operation: { kind: 'read', collection: 'people', fields: ['nothing'] },
    status: 422,
    place: '.fields.nothing',
    reason: '',
  },
  {
    name: 'a forged cursor',
    operation: { kind: 'read', collection: 'people', after: 'WzEsIngiLG51bGxd' },
    status: 422,
    place: '.after',
    reason: '',
  },
  {
    name: 'no unique index',
    operation: {
      kind: 'upsert',
      collection: 'people',
      conflict: { fields: ['name'], do: 'update' },
      data: [{ id: 94 }],
    },
    status: 422,
    place: '.conflict.fields',
    reason: '',
  },
  { name: 'an unknown collection', operation: { kind: 'read', collection: 'nothing' }, status: 404, reason: '' },
]

type Case = { readonly rows: Rows; readonly caller: Caller; readonly acts: readonly Act[]; readonly first: number }

export function describeFaults(opened: () => Opened): void {
  it(`leaves nothing of ${cases} batches with a fault at each index, and tells where it is`, async () => {
    const database = opened()
    const seen = new Map<string, number>()
    let run = 0
    const property = fc.asyncProperty(anyCase(), async ({ rows, caller, acts, first }) => {
      const operations = acts.map(operationOf)
      const who = { policies: [guarded], caller }
      await load(database, rows)
      const before = await dump(database)
      for (let index = 0; index <= operations.length; index += 1) {
        const fault = faults[(first + index) % faults.length]
        if (fault === undefined) continue
        const { name, operation, status, place, reason } = fault
        const sent = operations.toSpliced(index, 0, operation)
        const about = `${name} at ${index} of ${JSON.stringify(sent)}`
        const isKeyed = caller.userId !== undefined && index % 2 === 1
        run += 1

        const told = await runBatch(database, who, sent, isKeyed ? `fault ${run}` : undefined)

        expect({ status: told.status, operation: told.operation }, about).toEqual({ status, operation: index })
        if (place !== undefined) expect(told.place, about).toBe(`operations[${index}]${place}`)
        expect(told.text, about).toContain(reason)
        expectSame(await dump(database), before, about)
        seen.set(name, (seen.get(name) ?? 0) + 1)
      }
      if (caller.userId === undefined) return
      const again = await runBatch(database, who, operations, `fault ${run}`)
      expect(again, `without the fault ${JSON.stringify(operations)}`).toMatchObject({ status: 200, isReplayed: false })
    })
    await fc.assert(property, { seed, numRuns: cases, endOnFailure: true })
    console.log(`${database.dialect.title}: ${[...seen].map(([name, times]) => `${name} ${times}×`).join(', ')}`)
    if (cases >= 10) expect(seen.size).toBe(faults.length)
  })
}

/** Operations that all succeed, so that nothing but the fault can fail. */
function anyCase(): Arbitrary<Case> {
  return fc.tuple(anyCaller, anyRows, fc.nat(faults.length - 1)).chain(([caller, drawn, first]) => {
    const rows = { ...drawn, people: [...(drawn.people ?? []), ...fixed] }
    const scope = scopeOf(naiveRules([guarded], caller, rows), rows, everything.newIds)
    return fc
      .array(anyAct(scope), { minLength: 1, maxLength: 29, size: 'medium' })
      .map((acts): Case => ({ rows, caller, first, acts: possible({ policies: [guarded], caller, rows, acts }) }))
      .filter(({ acts }) => acts.length > 0)
  })
}
