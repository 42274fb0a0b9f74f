/** `/api/{workspace}/sources/data` and `/api/{workspace}/connectors/data` (docs/contract.md#data-sources). */

import * as z from 'zod'
import { permissionsSchema } from '../../src/core/connector/permission.ts'
import { isObject } from '../../src/core/json-object.ts'
import { lazily } from '../../src/core/lazily.ts'
import { apiNameSchema } from '../../src/core/model/api-name.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, json, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { idOf } from '../http/schemas.ts'

/** Configurations may contain certificates. */
const BODY_LIMIT = 1024 * 1024

const input = lazily(() => ({
  provider: z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters'),
  config: z.unknown().refine(isObject, 'must be an object').default({}),
  permissions: permissionsSchema().default([]),
}))

export const createBody = lazily(() => z.strictObject({ apiName: apiNameSchema(), ...input() }))
export const testBody = lazily(() => z.strictObject(input()))

export function mountSources(app: App, services: Services): void {
  const { sources } = services

  mount(app, '/api/:workspace/sources/data', {
    POST: async (c) =>
      data(await sources.create(await authorize(services, c), () => readBody(c, createBody, BODY_LIMIT))),
  })

  mount(app, '/api/:workspace/sources/data/test', {
    POST: async (c) => {
      await sources.test(await authorize(services, c), () => readBody(c, testBody, BODY_LIMIT))
      return noContent()
    },
  })

  mount(app, '/api/:workspace/sources/data/introspect', {
    POST: async (c) =>
      data(await sources.preview(await authorize(services, c), () => readBody(c, testBody, BODY_LIMIT))),
  })

  mount(app, '/api/:workspace/sources/data/:id', {
    DELETE: async (c) => {
      await sources.delete(await authorize(services, c), idOf(c, 'Source'))
      return noContent()
    },
  })

  mount(app, '/api/:workspace/connectors/data', {
    GET: async (c) => {
      const { listed, broken } = sources.connectors(await authorize(services, c))
      return json({ data: listed, ...(broken.length > 0 && { meta: { broken } }) })
    },
  })
}
