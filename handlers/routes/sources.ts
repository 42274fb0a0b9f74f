/** `/api/{workspace}/sources/data` and `/api/{workspace}/connectors/data` (docs/contract.md#data-sources). */

import * as z from 'zod'
import { permissionsSchema } from '../../src/core/connector/permission.ts'
import { isObject } from '../../src/core/json-object.ts'
import { lazily } from '../../src/core/lazily.ts'
import { apiNameSchema } from '../../src/core/model/api-name.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, json, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import type { AppContext } from '../http/request.ts'
import { idOf } from '../http/schemas.ts'
import { withSent } from '../http/sent.ts'

/** Configurations may contain certificates. */
const BODY_LIMIT = 1024 * 1024

const input = lazily(() => ({
  provider: z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters'),
  config: z.unknown().refine(isObject, 'must be an object').default({}),
  permissions: permissionsSchema().default([]),
}))

export const createBody = lazily(() => z.strictObject({ apiName: apiNameSchema(), ...input() }))
export const changeBody = lazily(() => z.strictObject({ config: z.unknown().refine(isObject, 'must be an object') }))
export const testBody = lazily(() => z.strictObject(input()))

export function mountSources(app: App, services: Services): void {
  const { sources } = services
  const sentTo = <S extends z.ZodType, T>(
    c: AppContext,
    schema: () => S,
    work: (scope: RequestScope, sent: () => Promise<z.infer<S>>) => Promise<T>,
  ) =>
    withSent(
      () => authorize(services, c),
      () => readBody(c, schema, BODY_LIMIT),
      work,
    )

  mount(app, '/api/:workspace/sources/data', {
    POST: async (c) => data(await sentTo(c, createBody, sources.create)),
  })

  mount(app, '/api/:workspace/sources/data/test', {
    POST: async (c) => {
      await sentTo(c, testBody, sources.test)
      return noContent()
    },
  })

  mount(app, '/api/:workspace/sources/data/introspect', {
    POST: async (c) => data(await sentTo(c, testBody, sources.preview)),
  })

  mount(app, '/api/:workspace/sources/data/:id', {
    GET: async (c) => data(await sources.read(await authorize(services, c), idOf(c, 'Source'))),
    PATCH: async (c) => {
      await sentTo(c, changeBody, (scope, sent) => sources.change(scope, idOf(c, 'Source'), sent))
      return noContent()
    },
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
