/** `/api/{workspace}/access` (docs/contract.md#what-a-caller-may-do): what the caller may do, and why others may or may not. */

import * as z from 'zod'
import { actions } from '../../src/core/access/access.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { AccessQuestion } from '../../src/services/documents/explanations.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, dataText } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { withEtag } from '../http/etag.ts'
import { type App, mount } from '../http/mount.ts'
import { idsSchema } from '../http/schemas.ts'
import { withSent } from '../http/sent.ts'

const keyPart = lazily(() => z.union([z.string(), z.number(), z.boolean()]))

export const explainBody = lazily(() =>
  z
    .strictObject({
      userId: z.uuid('must be a UUID').toLowerCase().optional(),
      roleIds: idsSchema().optional(),
      anonymous: z.literal(true).optional(),
      collection: z.string(),
      action: z.enum(actions),
      key: z.union([keyPart(), z.record(z.string(), keyPart())]).optional(),
      field: z.string().optional(),
    })
    .refine(
      ({ userId, roleIds, anonymous }) => [userId, roleIds, anonymous].filter((one) => one !== undefined).length === 1,
      'must have exactly one of userId, roleIds and anonymous',
    )
    .refine(({ action, key }) => action !== 'create' || key === undefined, {
      path: ['key'],
      message: 'is of an item that there is, and what is created is none yet',
    })
    .refine(({ action, field }) => action !== 'delete' || field === undefined, {
      path: ['field'],
      message: 'is not for a deletion, which takes whole items',
    }),
)

export const effectBody = lazily(() => {
  const byId = <S extends z.ZodType>(change: S) =>
    z.record(z.uuid('must be a UUID').toLowerCase(), change.nullable()).optional()
  return z.strictObject({
    policies: byId(z.strictObject({ content: z.record(z.string(), z.unknown()) })),
    roles: byId(z.strictObject({ policies: idsSchema() })),
    members: byId(z.strictObject({ roles: idsSchema() })),
  })
})

export function mountAccess(app: App, services: Services): void {
  const { ownAccess, explanations, rightsPreview, config } = services

  mount(
    app,
    '/api/:workspace/access',
    {
      GET: async (c) => {
        const { tag, text } = await ownAccess.load(await authorize(services, c))
        return withEtag(c, tag, () => dataText(text).body as string)
      },
    },
    { headers: { GET: ['If-None-Match'] } },
  )

  mount(app, '/api/:workspace/access/explain', {
    POST: async (c) => {
      const answer = await withSent(
        () => authorize(services, c),
        async () => questionOf(await readBody(c, explainBody)),
        explanations.explain,
      )
      return data(answer)
    },
  })

  mount(app, '/api/:workspace/access/effect', {
    POST: async (c) => {
      const answer = await withSent(
        () => authorize(services, c),
        () => readBody(c, effectBody, config.SERVICE_SCHEMA__BODY_LIMIT),
        rightsPreview.effects,
      )
      return data(answer)
    },
  })
}

function questionOf({ userId, roleIds, anonymous, ...asked }: z.infer<ReturnType<typeof explainBody>>): AccessQuestion {
  if (userId !== undefined) return { ...asked, of: { kind: 'user', id: userId } }
  return { ...asked, of: roleIds === undefined ? { kind: 'anonymous' } : { kind: 'roles', ids: roleIds } }
}
