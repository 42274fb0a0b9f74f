/** `/api/{workspace}/policies` (docs/contract.md#policies). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { createdText, dataText, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { descriptionSchema, idOf, itemQuery, listQuery, nameSchema } from '../http/schemas.ts'

/** The service validates the content, since it depends on the model. */
const contentSchema = lazily(() => z.record(z.string(), z.unknown()))

export const createBody = lazily(() =>
  z.strictObject({
    name: nameSchema(),
    description: descriptionSchema().default(null),
    content: contentSchema(),
  }),
)

export const updateBody = lazily(() =>
  z.strictObject({
    name: nameSchema().optional(),
    description: descriptionSchema().optional(),
    content: contentSchema().optional(),
  }),
)

export function mountPolicies(app: App, services: Services): void {
  const { policies, config } = services
  const limit = config.SERVICE_SCHEMA__BODY_LIMIT

  mount(
    app,
    '/api/:workspace/policies',
    {
      GET: async (c) => {
        const { data, total } = await policies.list(await authorize(services, c), () => listQuery(c))
        return dataText(data, total)
      },
      POST: async (c) =>
        createdText(await policies.create(await authorize(services, c), () => readBody(c, createBody, limit))),
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/:workspace/policies/:id',
    {
      GET: async (c) =>
        dataText(await policies.read(await authorize(services, c), idOf(c, 'Policy'), () => itemQuery(c))),
      PATCH: async (c) =>
        dataText(
          await policies.update(await authorize(services, c), idOf(c, 'Policy'), () => readBody(c, updateBody, limit)),
        ),
      DELETE: async (c) => {
        await policies.delete(await authorize(services, c), idOf(c, 'Policy'))
        return noContent()
      },
    },
    { strictQuery: ['GET'] },
  )
}
