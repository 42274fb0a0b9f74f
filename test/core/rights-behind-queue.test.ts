/** A document may wait long until it is made: whoever has other rights by then gets nothing by those of before. */
import { expect, it } from 'vitest'
import type { Rights } from '../../src/core/access/principal.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { WorkQueue } from '../../src/services/caller/work-queue.ts'
import { createManifests } from '../../src/services/documents/manifest.ts'
import { createOpenApi } from '../../src/services/documents/openapi.ts'
import { createOwnAccess } from '../../src/services/documents/own-access.ts'
import { createModelCache } from '../../src/services/model/model-cache.ts'
import { build } from '../support/data/build.ts'

const workspace = { id: 'shop', apiName: 'shop', displayName: null }

const policies = (...entitlements: readonly string[]): Rights =>
  ({
    kind: 'policies',
    userId: '0190a8c2-6b1e-7c3d-8e4f-5a6b7c8d9e0f',
    roleIds: [],
    policies: [],
    entitlements: new Set(entitlements),
  }) as Rights

const before = policies('dataModel:read', 'openApiSchema:read')

/** Documents, and the request for them of somebody who has other rights once it has waited. */
function setUp(after: Rights) {
  const scope: RequestScope = {
    workspace,
    snapshot: { modelVersion: 1, licenseVersion: 0, accessVersion: 1, age: () => 0 },
    term: { isOver: () => false, renew: async () => true },
    again: () => scope,
    caller: { kind: 'anonymous' },
    rights: before,
  }
  const requested = { ...scope, again: () => now }
  let now = scope
  const queue: WorkQueue = {
    run: (_, work) => {
      now = { ...scope, rights: after }
      return work()
    },
  }
  const models = createModelCache({
    database: {
      query: () => Promise.reject(new Error('not asked')),
      stream: () => Promise.reject(new Error('not asked')),
      batch: () => Promise.reject(new Error('not asked')),
      close: async () => {},
    },
  } as never)
  models.keep('shop', build.model({ articles: { id: 'int64', title: 'string' } }))
  const called = async () => ({ digest: '', load: async () => () => undefined })
  const deps = { called, models, declarations: async () => () => undefined, queue, version: '1.0.0' }
  return {
    openApi: async () => (await createOpenApi(deps).workspace(requested)).render(),
    manifest: async () => (await createManifests(deps).load(requested)).render(),
    usable: async () => (await createManifests(deps).load(requested, 'usable')).render(),
    access: async () => createOwnAccess(deps).load(requested),
  }
}

it.each(['openApi', 'manifest', 'usable', 'access'] as const)('is so of %s', async (name) => {
  await expect(setUp(before)[name]()).resolves.toBeDefined()
  await expect(setUp(policies('openApiSchema:read', 'dataModel:read'))[name]()).rejects.toMatchObject({
    kind: 'unavailable',
  })
})

it('says that the right is gone', async () => {
  await expect(setUp(policies()).openApi()).rejects.toMatchObject({ kind: 'forbidden' })
  await expect(setUp(policies()).manifest()).rejects.toMatchObject({ kind: 'forbidden' })
})
