/** Descriptions of the routes of the instance: status, set-up, workspaces, users and audit log. */
import * as z from 'zod'
import type { RouteDescription, RouteDescriptions } from '../../src/core/openapi/system.ts'
import { bootstrapBody, noMembers } from '../routes/system.ts'
import * as users from '../routes/users.ts'
import * as workspaces from '../routes/workspaces.ts'
import { data, deletion, item, listOf, noContent, oneOf, requestBody, response } from './describe.ts'
import { licenseInfo } from './license.ts'

const instance = 'Instance'
const workspaceTag = 'Workspaces'
const userTag = 'Users'

const alive: RouteDescription = {
  summary: 'Tell that the process lives',
  tag: instance,
  answers: { '200': response(z.strictObject({ status: z.literal('ok') }), 'It does.', { status: 'ok' }) },
}

const readiness = z.strictObject({
  status: z.enum(['ready', 'unavailable']),
  checks: z.strictObject({ accepting_traffic: z.string(), startup: z.string(), system_db: z.string() }),
})

const document: RouteDescription = {
  summary: 'Read the OpenAPI document of the system',
  tag: instance,
  answers: {
    '200': { ...response(z.looseObject({ openapi: z.string() }), 'The document.'), headers: { ETag: 'A weak tag.' } },
    '304': { description: 'The document that `If-None-Match` names still holds.', headers: { ETag: 'The tag.' } },
  },
}

const session = z.strictObject({
  id: z.uuid(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime(),
  name: z.string().nullable(),
  userAgent: z.string().nullable(),
  ip: z.string().nullable(),
  current: z.boolean(),
})

const actionsRoute: RouteDescription = {
  summary: 'List the actions that are recorded',
  tag: 'Audit log',
  answers: {
    '200': data(z.array(z.strictObject({ action: z.string(), label: z.string() })), 'Each action with its label.', [
      { action: 'auth.login.v1', label: 'Sign-in' },
    ]),
  },
}

const page: RouteDescription = {
  summary: 'Show the reference of the system to a person',
  tag: instance,
  answers: { '200': { description: 'The page.', schema: { type: 'string' }, mediaType: 'text/html' } },
}

export const instanceRoutes: RouteDescriptions = {
  'GET /': {
    summary: 'Say where the documents and routes are',
    tag: instance,
    answers: { '200': { description: 'Paths of this service.', schema: { type: 'object' } } },
  },
  'GET /ping': { ...alive, summary: 'Answer' },
  'GET /metrics': {
    summary: 'Read metrics for Prometheus, where SERVICE_METRICS__ENABLED allows it',
    tag: instance,
    answers: { '200': { description: 'The metrics.', schema: { type: 'string' }, mediaType: 'text/plain' } },
  },
  'GET /api/system/live': alive,
  'GET /api/system/ready': {
    summary: 'Tell whether requests can be served',
    tag: instance,
    answers: {
      '200': response(readiness, 'They can.', {
        status: 'ready',
        checks: { accepting_traffic: 'ok', startup: 'ok', system_db: 'ok' },
      }),
      '503': response(readiness, 'They cannot; each check that fails says why.'),
    },
  },
  'GET /api/system/info': {
    summary: 'Tell about the instance; more to those who are signed in',
    tag: instance,
    answers: {
      '200': response(
        z.strictObject({
          name: z.string(),
          onboarding: z.strictObject({ requireCreateUser: z.boolean() }).optional(),
          mail: z.enum(['log', 'none']).optional(),
          version: z.string().optional(),
          now: z.iso.datetime().optional(),
          license: licenseInfo.optional(),
          warnings: z
            .array(
              z.strictObject({
                kind: z.literal('schemaDrift'),
                workspace: z.string(),
                sourceId: z.uuid(),
                since: z.iso.datetime(),
              }),
            )
            .optional(),
        }),
        'What may be told; warnings are for administrators.',
        { name: 'service' },
      ),
    },
  },
  'POST /api/system/bootstrap': {
    summary: 'Create the first administrator',
    tag: instance,
    body: requestBody(bootstrapBody(), {
      email: 'admin@example.com',
      password: 'a password of some length',
      setupToken: 'said',
    }),
    answers: { '201': data(z.strictObject({ id: z.uuid(), email: z.string() }), 'The administrator.') },
    errors: ['conflict'],
  },
  'GET /api/system/settings': {
    summary: 'List the variables of the configuration, without secrets',
    tag: instance,
    answers: {
      '200': data(
        z.array(z.strictObject({ name: z.string(), isSet: z.boolean(), value: z.string().nullable() })),
        'Each variable: whether it is set to something else than its default, and its value where that is no secret.',
        [
          { name: 'SERVICE_ACCESS_TOKEN_TTL', isSet: false, value: '15m' },
          { name: 'SERVICE_SECRET', isSet: true, value: null },
        ],
      ),
    },
  },
  'POST /api/system/mail/test': {
    summary: 'Send a mail to one’s own address, to see whether mail works',
    tag: instance,
    body: requestBody(noMembers(), {}),
    answers: { '204': noContent },
    errors: ['conflict', 'throttled'],
  },
  'GET /api/system/openapi': document,
  'GET /api/{workspace}/openapi': {
    ...document,
    summary: 'Read the OpenAPI document of a workspace, as the caller may see it',
    tag: workspaceTag,
  },

  'GET /api/system/schemas/model': {
    summary: 'Read the JSON Schema of the model file',
    tag: instance,
    answers: { '200': response(z.looseObject({ $schema: z.string() }), 'The schema.') },
  },
  'GET /api/system/docs': page,
  'GET /api/{workspace}/docs': { ...page, summary: 'Show the reference of a workspace to a person', tag: workspaceTag },
  'GET /api/system/docs/{file}': {
    summary: 'Read a file of the reference pages',
    tag: instance,
    answers: { '200': { description: 'The file.', schema: { type: 'string' }, mediaType: 'text/javascript' } },
  },

  'GET /api/system/workspaces': listOf('workspaces', workspaceTag),
  'POST /api/system/workspaces': {
    summary: 'Create a workspace',
    tag: workspaceTag,
    body: requestBody(workspaces.createBody(), { apiName: 'shop', displayName: 'The shop' }),
    answers: {
      '201': data(
        z.strictObject({ id: z.uuid(), apiName: z.string(), displayName: z.string().nullable() }),
        'The workspace; who made it is its Administrator.',
      ),
    },
    errors: ['conflict', 'paymentRequired'],
  },
  'GET /api/system/workspaces/{id}': oneOf('workspaces', workspaceTag),
  'PATCH /api/system/workspaces/{id}': {
    summary: 'Change a workspace',
    tag: workspaceTag,
    body: requestBody(workspaces.updateBody(), { displayName: 'The shop' }),
    answers: { '200': item('workspaces', 'The workspace.') },
  },
  'DELETE /api/system/workspaces/{id}': deletion('Delete a workspace and all its data', workspaceTag),

  'GET /api/system/users/me': { ...oneOf('users', userTag), summary: 'Read who asks' },
  'PATCH /api/system/users/me': {
    summary: 'Change one’s own name',
    tag: userTag,
    body: requestBody(users.ownBody(), { fullName: 'Ada Lovelace' }),
    answers: { '200': item('users', 'The user.') },
  },
  'GET /api/system/users/me/sessions': {
    summary: 'List one’s own sessions',
    tag: userTag,
    answers: { '200': data(z.array(session), 'The newest thousand that have not ended, the last used first.') },
  },
  'DELETE /api/system/users/me/sessions': deletion('End all of one’s own sessions but the one that asks', userTag),
  'DELETE /api/system/users/me/sessions/{id}': deletion('End one of one’s own sessions', userTag),
  'GET /api/system/users': listOf('users', userTag),
  'GET /api/system/users/{id}': oneOf('users', userTag),
  'PATCH /api/system/users/{id}': {
    summary: 'Change, suspend or promote a user',
    tag: userTag,
    body: requestBody(users.updateBody(), { status: 'suspended' }),
    answers: { '200': item('users', 'The user.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'DELETE /api/system/users/{id}': deletion('Delete a user', userTag, { errors: ['conflict'] }),
  'GET /api/system/audit-log/actions': actionsRoute,
  'GET /api/{workspace}/audit-log/actions': actionsRoute,
  'GET /api/system/audit-log': { ...listOf('auditLog', 'Audit log'), summary: 'List what happened in the instance' },
}
