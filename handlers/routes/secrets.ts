/** `/api/{workspace}/secrets`: named secrets that configurations of data sources refer to. */
import * as z from 'zod'
import { nested, ServiceError } from '../../src/core/error.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { type AppContext, pathParam } from '../http/request.ts'
import { withSent } from '../http/sent.ts'

/** Secrets include certificates and keys. */
const BODY_LIMIT = 1024 * 1024

export const secretBody = lazily(() =>
  z.strictObject({
    value: z
      .string()
      .min(1, 'must not be empty')
      .max(256 * 1024, 'must have at most 262144 characters')
      .refine((text) => text.isWellFormed(), 'must be valid text'),
  }),
)

const NAME = /^[a-z][a-z0-9_]{0,39}$/

export function mountSecrets(app: App, services: Services): void {
  const { secrets } = services

  mount(app, '/api/:workspace/secrets', {
    GET: async (c) => data(await secrets.list(await authorize(services, c))),
  })

  mount(app, '/api/:workspace/secrets/:name', {
    PUT: async (c) => {
      await withSent(
        () => authorize(services, c),
        () => readBody(c, secretBody, BODY_LIMIT),
        (scope, sent) => secrets.write(scope, newName(c), sent),
      )
      return noContent()
    },
    DELETE: async (c) => {
      const scope = await authorize(services, c)
      const name = pathParam(c, 'name')
      if (!NAME.test(name)) throw new ServiceError('notFound', 'Secret does not exist')
      await secrets.delete(scope, name)
      return noContent()
    },
  })
}

function newName(c: AppContext): string {
  const name = pathParam(c, 'name')
  if (NAME.test(name)) return name
  const reason = 'must be 1 to 40 lower-case letters, digits and underscores, and start with a letter'
  throw nested('invalid', ['Invalid name of a secret', reason])
}
