/** What was planned too long ago to be begun is planned again, on the model and with the rights of then (docs/decisions/117). */
import { describe, expect, it } from 'vitest'
import type { Rights } from '../../src/core/access/principal.ts'
import { ServiceError } from '../../src/core/error.ts'
import { buildModel, noRecords } from '../../src/core/model/model.ts'
import { PLANS_LAST, requireTerm } from '../../src/core/sql/begin/plan-term.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import { planTermOf } from '../../src/services/caller/plan-term.ts'
import { createItemReads } from '../../src/services/data/item-reads.ts'
import { createOnModel } from '../../src/services/data/on-model.ts'
import { createPlanCache } from '../../src/services/data/plan-cache.ts'
import { started } from '../../src/services/data/planned.ts'

const all: Rights = { kind: 'all' }
const some = (name: string): Rights => ({
  kind: 'policies',
  userId: name,
  roleIds: [],
  policies: [],
  entitlements: new Set(),
})

/** A scope of these versions, whose age the test sets. */
function seen(modelVersion: number, rights: Rights, again: () => RequestScope) {
  const time = { age: 0 }
  const snapshot = { modelVersion, accessVersion: 1, licenseVersion: 1, age: () => time.age }
  const term = planTermOf({ snapshot, rights }, again)
  const workspace = { id: 'w', apiName: 'w', displayName: null }
  const scope: RequestScope = { workspace, snapshot, rights, term, again, caller: { kind: 'anonymous' } }
  return { scope, time }
}

const never = () => {
  throw new Error('nobody asks')
}

describe('a plan', () => {
  it('stands until it is too old, and longer where versions and rights are the same', async () => {
    const later = seen(1, some('ada'), never)
    const { scope, time } = seen(1, some('ada'), () => later.scope)

    expect(scope.term.isOver()).toBe(false)
    time.age = PLANS_LAST + 1
    expect(scope.term.isOver()).toBe(true)
    await requireTerm(scope.term)
    expect(scope.term.isOver()).toBe(false)
  })

  it.each([
    ['the model is another', seen(2, some('ada'), never)],
    ['the rights are others', seen(1, some('bob'), never)],
  ])('stands no longer where %s', async (_, { scope: later }) => {
    const { scope, time } = seen(1, some('ada'), () => later)
    time.age = PLANS_LAST + 1

    await expect(requireTerm(scope.term)).rejects.toMatchObject({ state: 'SV117' })
  })
})

describe('a request whose plan no longer stands', () => {
  const people = {
    ...{ id: 'p', apiName: 'people', dbName: 'people', sourceId: 's', namespaceId: null },
    ...{ isReadOnly: false, isSystem: false, isView: false },
  }
  const modelOf = (version: number) =>
    buildModel(version, {
      ...noRecords,
      sources: [{ id: 's', apiName: 'db', provider: 'postgres' }],
      collections: [people],
    })
  /** The versions that have left `people` alone. */
  const elsewhere = new Set<number>()
  const onModel = createOnModel({
    load: async () => {},
    models: { load: async (_, version) => modelOf(version) },
    viewers: { of: never },
    lookAgain: never,
    untouched: async (_, ids, version) => ids.join() === 'p' && elsewhere.has(version + 1),
    remaining: { open: (model) => model, of: (model) => model, without: never },
  })
  /** A read is looked at behind its answer; a write as a driver does that begins it. */
  const run = (scope: RequestScope, action: 'read' | 'update' = 'read') =>
    onModel(scope, { name: 'people', action, sent: () => '' }, (model, within) =>
      started(async () => {
        if (action === 'update') await requireTerm(within.term)
        return [model.version, within.rights]
      }),
    )

  it.each(['read', 'update'] as const)('is planned on the model and with the rights of then: a %s', async (action) => {
    const later = seen(2, some('bob'), never)
    const { scope, time } = seen(1, some('ada'), () => later.scope)
    time.age = PLANS_LAST + 1

    expect(await (await run(scope, action)).answer).toEqual([2, some('bob')])
  })

  it.each(['read', 'update'] as const)('stands where others were changed alone: a %s', async (action) => {
    elsewhere.add(8)
    const later = seen(8, some('ada'), never)
    const { scope, time } = seen(7, some('ada'), () => later.scope)
    time.age = PLANS_LAST + 1

    expect(await (await run(scope, action)).answer).toEqual([7, some('ada')])
  })

  it('is one of a read where an upload is asked for that was completed', async () => {
    const asked: unknown[] = []
    const { uploadedFile } = createItemReads({
      onModel: (_, what) => {
        asked.push(what)
        return started(() => Promise.reject(new Error('not run')))
      },
      open: never,
      plans: createPlanCache({}),
      bindings: never,
    })
    const { scope } = seen(1, all, never)
    await (await uploadedFile(scope, 'key', { sent: '', share: 'shop' })).answer.catch(() => undefined)

    expect(asked).toMatchObject([{ name: 'ServiceFile', action: 'read' }])
  })

  it('is told nothing of what has failed meanwhile', async () => {
    const later = seen(2, some('bob'), never)
    const { scope, time } = seen(1, some('ada'), () => later.scope)
    time.age = PLANS_LAST + 1
    const read = onModel(scope, { name: 'people', action: 'read', sent: () => '' }, (model) =>
      started(async () => {
        if (model.version === 1) throw new Error('of the column of another')
        return model.version
      }),
    )

    expect(await (await read).answer).toBe(2)
  })

  it('is refused as whoever sends it then', async () => {
    const { scope, time } = seen(1, all, () => {
      throw new ServiceError('forbidden', 'no longer')
    })
    time.age = PLANS_LAST + 1

    await expect((await run(scope)).answer).rejects.toMatchObject({ kind: 'forbidden' })
  })

  it('is given up where each plan is too old', async () => {
    let version = 1
    const next = (): RequestScope => {
      version += 1
      const { scope, time } = seen(version, all, next)
      time.age = PLANS_LAST + 1
      return scope
    }

    await expect((await run(next())).answer).rejects.toMatchObject({ kind: 'unavailable', meta: { retryAfter: 1 } })
  })
})
