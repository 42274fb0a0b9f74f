/** `/api/{workspace}/access` (docs/contract.md#what-a-caller-may-do): the caller's access, and explanations of others' access. */

import * as z from 'zod'
import { actions } from '../../src/core/access/access.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { AccessQuestion } from '../../src/services/documents/explanations.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { withEtag } from '../http/etag.ts'
import { type App, mount } from '../http/mount.ts'
import { idOf, idsSchema, nameSchema } from '../http/schemas.ts'
import { withSent } from '../http/sent.ts'

const keyPart = lazily(() => z.union([z.string(), z.number(), z.boolean()]))
const keySchema = lazily(() => z.union([keyPart(), z.record(z.string(), keyPart())]))

const NO_ITEM_YET = 'is of an item that there is, and what is created is none yet'
const WHOLE_ITEMS = 'is not for a deletion, which takes whole items'

export const explainBody = lazily(() =>
  z
    .strictObject({
      userId: z.uuid('must be a UUID').toLowerCase().optional(),
      roleIds: idsSchema().optional(),
      anonymous: z.literal(true).optional(),
      collection: z.string(),
      action: z.enum(actions),
      key: keySchema().optional(),
      field: z.string().optional(),
    })
    .refine(
      ({ userId, roleIds, anonymous }) => [userId, roleIds, anonymous].filter((one) => one !== undefined).length === 1,
      'must have exactly one of userId, roleIds and anonymous',
    )
    .refine(({ action, key }) => action !== 'create' || key === undefined, {
      path: ['key'],
      message: NO_ITEM_YET,
    })
    .refine(({ action, field }) => action !== 'delete' || field === undefined, {
      path: ['field'],
      message: WHOLE_ITEMS,
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

export const testBody = lazily(() => {
  const has = (sent: object, name: string) => (sent as Readonly<Record<string, unknown>>)[name] !== undefined
  const only = (path: readonly string[], message: string) => ({ path: [...path], message })
  return z
    .strictObject({
      name: nameSchema(),
      as: z
        .string()
        .toLowerCase()
        .regex(/^(anonymous|(user|role):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/, {
          message: 'must be user:<id>, role:<id> or anonymous',
        }),
      collection: z.string(),
      action: z.enum(actions),
      key: keySchema().optional(),
      field: z.string().optional(),
      filter: z.record(z.string(), z.unknown()).optional(),
      expect: z.strictObject({
        allowed: z.boolean(),
        fields: z.array(z.string()).max(1_000, 'must have at most 1000 entries').optional(),
        count: z.int('must be a whole number').min(0, 'must not be negative').optional(),
      }),
    })
    .refine((sent) => sent.action !== 'create' || !has(sent, 'key'), only(['key'], NO_ITEM_YET))
    .refine((sent) => !has(sent, 'key') || !has(sent, 'filter'), only(['filter'], 'is not beside a key'))
    .refine((sent) => sent.action === 'read' || !has(sent, 'filter'), only(['filter'], 'is of items that are read'))
    .refine((sent) => sent.action !== 'delete' || !has(sent, 'field'), only(['field'], WHOLE_ITEMS))
    .refine(
      (sent) => !has(sent, 'field') || !(has(sent, 'filter') || has(sent.expect, 'count')),
      only(['field'], 'is not beside a filter or a count, which are of items'),
    )
    .refine(
      ({ action, key, expect }) => expect.count === undefined || (action === 'read' && key === undefined),
      only(['expect', 'count'], 'is of items that are read, and not beside a key'),
    )
    .refine(
      ({ action, expect }) => action !== 'delete' || expect.fields === undefined,
      only(['expect', 'fields'], WHOLE_ITEMS),
    )
    .refine(
      ({ expect: { allowed, fields = [], count = 0 } }) => allowed || (fields.length === 0 && count === 0),
      only(['expect'], 'must have neither fields nor a count of what is not allowed'),
    )
})

export function mountAccess(app: App, services: Services): void {
  const { ownAccess, explanations, rightsPreview, accessTests, config } = services

  mount(
    app,
    '/api/:workspace/access',
    {
      GET: async (c) => {
        const { tag, text } = await ownAccess.load(await authorize(services, c))
        return withEtag(c, tag, () => text)
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

  mount(app, '/api/:workspace/access/tests', {
    GET: async (c) => data(await accessTests.list(await authorize(services, c))),
    POST: async (c) => {
      const made = await withSent(
        () => authorize(services, c),
        () => readBody(c, testBody),
        accessTests.create,
      )
      return data(made, 201)
    },
  })

  mount(app, '/api/:workspace/access/tests/:id', {
    DELETE: async (c) => {
      await accessTests.delete(await authorize(services, c), idOf(c, 'Access test'))
      return noContent()
    },
  })
}

function questionOf({
  userId,
  roleIds,
  anonymous,
  ...question
}: z.infer<ReturnType<typeof explainBody>>): AccessQuestion {
  if (userId !== undefined) return { ...question, of: { kind: 'user', id: userId } }
  return { ...question, of: roleIds === undefined ? { kind: 'anonymous' } : { kind: 'roles', ids: roleIds } }
}
