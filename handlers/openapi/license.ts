/** Descriptions of the license routes, and of the license in `info`. */
import * as z from 'zod'
import type { RouteDescription, RouteDescriptions } from '../../src/core/openapi/system.ts'
import { data } from './describe.ts'

const tag = 'License'
const status = z.enum(['active', 'grace', 'locked'])
const amount = z.union([z.number(), z.boolean()])

const report = z.strictObject({
  status,
  entitlements: z.record(z.string(), z.strictObject({ limit: amount.nullable(), kind: z.enum(['hard', 'soft']) })),
  usage: z.record(z.string(), amount),
})

export const licenseInfo = z.strictObject({
  status,
  plan: z.string(),
  source: z.enum(['starter', 'key', 'token']),
  expiresAt: z.iso.datetime().nullable(),
  graceEndsAt: z.iso.datetime().nullable(),
  lastValidatedAt: z.iso.datetime().nullable(),
  reachable: z.boolean().nullable(),
  warnings: z.array(z.looseObject({ kind: z.string(), message: z.string() })),
})

const reported: RouteDescription = {
  summary: 'Read what the license allows and what is used of it',
  tag,
  answers: {
    '200': data(report, 'The license.', {
      status: 'active',
      entitlements: { seats: { limit: 5, kind: 'hard' } },
      usage: { seats: 1 },
    }),
  },
}

export const licenseRoutes: RouteDescriptions = {
  'GET /api/system/license': reported,
  'GET /api/{workspace}/license': { ...reported, summary: 'Read the license as it counts for a workspace' },
  'POST /api/system/license/refresh': {
    ...reported,
    summary: 'Ask the licensing service now',
    errors: ['conflict'],
  },
}
