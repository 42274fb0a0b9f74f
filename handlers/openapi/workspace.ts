/** Descriptions of the routes of a workspace except items: rights, data model, data sources. */

import * as z from 'zod'
import { actions } from '../../src/core/access/access.ts'
import { entitlementSchema } from '../../src/core/access/entitlement.ts'
import { policyContentSchema } from '../../src/core/access/policy.ts'
import { migrationSchema } from '../../src/core/migration/operation.ts'
import type { RouteDescription, RouteDescriptions } from '../../src/core/openapi/system.ts'
import { ALLOW, FAILING_TESTS } from '../http/failing-tests.ts'
import { effectBody, explainBody, testBody } from '../routes/access.ts'
import * as invitations from '../routes/invitations.ts'
import * as members from '../routes/members.ts'
import * as policies from '../routes/policies.ts'
import * as roles from '../routes/roles.ts'
import { introspectionBody } from '../routes/schema.ts'
import { secretBody } from '../routes/secrets.ts'
import * as sources from '../routes/sources.ts'
import { addresses } from '../routes/structure.ts'
import { assetRoutes } from './assets.ts'
import { data, item, listOf, noContent, oneOf, parameter, requestBody, response } from './describe.ts'

const rights = 'Roles, policies and members'
const dataModel = 'Data model'
const dataSources = 'Data sources'

const content = { content: policyContentSchema() }
const example = { collections: { articles: { read: { fields: ['title'] } } } }

const invitation = z.strictObject({
  id: z.uuid(),
  email: z.string(),
  workspace_roles: z.array(z.uuid()),
  invitedBy: z.uuid().nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  token: z.string(),
})

const actionRights = z.union([
  z.enum(['all', 'none']),
  z.strictObject({ access: z.literal('custom'), fields: z.array(z.string()) }),
])
const ownRights = z.strictObject({
  read: actionRights,
  create: actionRights,
  update: actionRights,
  delete: actionRights,
})

const explained = z.strictObject({
  allowed: z.boolean(),
  policies: z.array(
    z.strictObject({
      id: z.uuid(),
      name: z.string(),
      allows: z.boolean(),
      reason: z.enum(['action', 'filter', 'field']).optional(),
      condition: z.looseObject({}).optional(),
    }),
  ),
})

const expectation = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  as: z.string(),
  collection: z.string(),
  action: z.enum(actions),
  key: z.unknown().optional(),
  field: z.string().optional(),
  filter: z.looseObject({}).optional(),
  expect: z.strictObject({
    allowed: z.boolean(),
    fields: z.array(z.string()).optional(),
    count: z.int().optional(),
  }),
})
const judgedTests = z.array(z.strictObject({ id: z.uuid(), name: z.string(), passed: z.boolean().nullable() }))
const mayFail = parameter(ALLOW, 'Also where access tests would fail, which is 409 else.', {
  type: 'string',
  enum: [FAILING_TESTS],
})

const effectList = z.array(
  z.strictObject({
    entitlement: z.string().optional(),
    collection: z.string().optional(),
    action: z.enum(actions).optional(),
    fields: z.array(z.string()).optional(),
    members: z.int(),
    userIds: z.array(z.uuid()),
    isAnonymous: z.boolean(),
  }),
)

/** The system collections, under their newer path. */
const structure = Object.entries(addresses).flatMap(([address, of]): [string, RouteDescription][] => [
  [`GET /api/{workspace}/schema/structure/${address}`, listOf(of, dataModel)],
  [`GET /api/{workspace}/schema/structure/${address}/{id}`, oneOf(of, dataModel)],
])

const message = z.looseObject({ jsonrpc: z.literal('2.0') })
const refusal = z.looseObject({ message: z.string() })
const permission = z.strictObject({ permission: z.string(), reason: z.string() })

const connector = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: z.literal('data-connector'),
  origin: z.enum(['builtIn', 'extension']),
  isAvailable: z.boolean(),
  unavailableReason: z.string().nullable(),
  permissions: z.array(permission),
  presets: z.array(z.strictObject({ id: z.string(), name: z.string(), hint: z.string().optional() })),
})

const secret = z.strictObject({ name: z.string(), createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })

const schemaOperations = z.array(z.strictObject({ kind: z.string(), data: z.looseObject({}) }))
const modelFile = z.looseObject({ version: z.literal(1) })
const fileChanges = z.array(
  z.strictObject({
    action: z.enum(['create', 'change', 'rename', 'delete']),
    path: z.string(),
    from: z.unknown().optional(),
    to: z.unknown().optional(),
  }),
)
const fileRights = z.array(
  z.strictObject({
    role: z.string(),
    policy: z.string(),
    collection: z.string().optional(),
    action: z.string().optional(),
    entitlement: z.string().optional(),
  }),
)
const broken = z.array(z.strictObject({ location: z.string(), reason: z.string() }))

const warnings = z.array(
  z.strictObject({ kind: z.enum(['action', 'default']), field: z.string(), by: z.string(), message: z.string() }),
)
const warned = z.strictObject({ warnings })
const savedPolicy = 'The policy. Whoever reads the data model is warned of what writes by itself what it compares.'

export const workspaceRoutes: RouteDescriptions = {
  ...assetRoutes,
  'GET /api/{workspace}/members': listOf('members', rights),
  'PATCH /api/{workspace}/members/{id}': {
    summary: 'Change a member’s roles, or suspend them',
    tag: rights,
    parameters: [mayFail],
    body: requestBody(members.updateBody(), { status: 'suspended' }),
    answers: { '200': item('members', 'The member.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'DELETE /api/{workspace}/members/{id}': {
    summary: 'Remove a member',
    tag: rights,
    parameters: [mayFail],
    answers: { '204': noContent },
    errors: ['conflict'],
  },
  'GET /api/{workspace}/roles': listOf('roles', rights),
  'POST /api/{workspace}/roles': {
    summary: 'Create a role',
    tag: rights,
    body: requestBody(roles.createBody(), { name: 'Editors', description: 'They edit', policies: [] }),
    answers: { '201': item('roles', 'The role.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'GET /api/{workspace}/roles/{id}': oneOf('roles', rights),
  'PATCH /api/{workspace}/roles/{id}': {
    summary: 'Change a role',
    tag: rights,
    parameters: [mayFail],
    body: requestBody(roles.updateBody(), { name: 'Renamed' }),
    answers: { '200': item('roles', 'The role.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'DELETE /api/{workspace}/roles/{id}': {
    summary: 'Delete a role',
    tag: rights,
    parameters: [mayFail],
    answers: { '204': noContent },
    errors: ['conflict'],
  },
  'GET /api/{workspace}/policies': listOf('policies', rights),
  'POST /api/{workspace}/policies': {
    summary: 'Create a policy',
    tag: rights,
    body: requestBody(policies.createBody().extend(content), { name: 'Readers', content: example }),
    answers: { '201': item('policies', savedPolicy, warned) },
    errors: ['conflict', 'paymentRequired'],
  },
  'GET /api/{workspace}/policies/{id}': oneOf('policies', rights),
  'PATCH /api/{workspace}/policies/{id}': {
    summary: 'Change a policy',
    tag: rights,
    parameters: [mayFail],
    body: requestBody(policies.updateBody().extend({ content: policyContentSchema().optional() }), {
      content: example,
    }),
    answers: { '200': item('policies', savedPolicy, warned) },
    errors: ['conflict', 'paymentRequired'],
  },
  'DELETE /api/{workspace}/policies/{id}': {
    summary: 'Delete a policy, also from the roles that have it',
    tag: rights,
    parameters: [mayFail],
    answers: { '204': noContent },
    errors: ['conflict'],
  },
  'GET /api/{workspace}/invitations': listOf('invitations', rights),
  'POST /api/{workspace}/invitations': {
    summary: 'Invite somebody',
    tag: rights,
    body: requestBody(invitations.createBody(), { email: 'ada@example.com', workspace_roles: [], expiresIn: '7d' }),
    answers: {
      '201': data(
        invitation,
        'The invitation. `token` is shown only here and lets the invited account join that is signed in and proven; the mail holds another.',
      ),
    },
    errors: ['conflict', 'paymentRequired', 'throttled'],
  },
  'DELETE /api/{workspace}/invitations/{id}': {
    summary: 'Take an invitation back',
    tag: rights,
    answers: { '204': noContent },
  },
  'GET /api/{workspace}/access': {
    summary: 'Read what the caller may do',
    tag: rights,
    answers: {
      '200': {
        ...data(
          z.strictObject({
            entitlements: z.array(entitlementSchema()),
            collections: z.record(z.string(), ownRights),
            ids: z.record(z.string(), z.string()),
          }),
          'Entitlements, and by collection and action what may be done; collections with which nothing may be done are left out. `ids` are those of collections of the model, by which views name them.',
        ),
        headers: { ETag: 'A weak tag.' },
      },
      '304': { description: 'The rights that `If-None-Match` names still hold.', headers: { ETag: 'The tag.' } },
    },
  },
  'POST /api/{workspace}/access/explain': {
    summary: 'Explain why somebody may do something, or may not',
    tag: rights,
    body: requestBody(explainBody(), { anonymous: true, collection: 'articles', action: 'read' }),
    answers: { '200': data(explained, 'Whether it is allowed, and what each policy of theirs says of it.') },
    errors: ['notFound', 'forbidden'],
  },
  'POST /api/{workspace}/access/effect': {
    summary: 'Tell whom a change of policies, roles and members would give or take what',
    tag: rights,
    body: requestBody(effectBody(), { policies: { '0190a1b2-0000-7000-8000-000000000000': null } }),
    answers: {
      '200': data(
        z.strictObject({ granted: effectList, revoked: effectList, changed: effectList, tests: judgedTests }),
        'What would be different, and which access tests would pass; nothing is changed.',
      ),
    },
    errors: ['forbidden'],
  },
  'GET /api/{workspace}/access/tests': {
    summary: 'List what is expected of rights',
    tag: rights,
    answers: {
      '200': data(z.array(expectation), 'What is about items is told to those who read all of them.'),
    },
    errors: ['forbidden'],
  },
  'POST /api/{workspace}/access/tests': {
    summary: 'Keep what is expected of somebody’s rights',
    tag: rights,
    body: requestBody(testBody(), {
      name: 'The public reads titles',
      as: 'anonymous',
      collection: 'articles',
      action: 'read',
      expect: { allowed: true, fields: ['title'] },
    }),
    answers: { '201': data(expectation, 'The test.') },
    errors: ['forbidden', 'conflict'],
  },
  'DELETE /api/{workspace}/access/tests/{id}': {
    summary: 'Delete an access test',
    tag: rights,
    answers: { '204': noContent },
    errors: ['forbidden'],
  },
  'GET /api/{workspace}/audit-log': {
    ...listOf('auditLog', 'Audit log'),
    summary: 'List what happened in a workspace',
  },

  'GET /api/{workspace}/schema': {
    summary: 'Read the manifest of the data model',
    tag: dataModel,
    parameters: [parameter('collections', 'Only these, by their names with commas between.', { type: 'string' })],
    answers: {
      '200': {
        ...response(z.looseObject({ formatVersion: z.literal(1) }), 'The manifest.'),
        headers: { ETag: 'A weak tag.' },
      },
      '304': { description: 'The manifest that `If-None-Match` names still holds.', headers: { ETag: 'The tag.' } },
    },
  },
  'POST /api/{workspace}/schema/migrate': {
    summary: 'Change the data model',
    tag: dataModel,
    parameters: [parameter('dryRun', 'Only tell what would happen.', { type: 'string', enum: ['true', 'false'] })],
    body: requestBody(migrationSchema(), {
      operations: [{ kind: 'deleteCollection', data: { id: '0190a1b2-0000-7000-8000-000000000000' } }],
    }),
    answers: {
      '200': {
        ...data(
          z.strictObject({
            statements: z.array(z.strictObject({ sourceId: z.uuid(), sql: z.string() })),
            model: z.looseObject({}),
          }),
          'Done, without a body; of a dry run what would happen.',
        ),
      },
    },
    errors: ['conflict'],
  },
  'POST /api/{workspace}/schema/introspect/{source}': {
    summary: 'Import what was changed in a data source itself',
    tag: dataModel,
    body: requestBody(introspectionBody(), { tables: { include: ['public.*'], exclude: ['tmp_*'] } }),
    isBodyOptional: true,
    parameters: [parameter('dryRun', 'Only tell what would happen.', { type: 'string', enum: ['true', 'false'] })],
    answers: {
      '200': data(
        z.strictObject({
          operations: schemaOperations,
          skipped: z.array(z.strictObject({ table: z.string(), reason: z.string() })),
          renames: z.array(z.strictObject({ from: z.string(), to: z.string(), certain: z.boolean() })).optional(),
          breaking: z
            .array(z.strictObject({ collection: z.string(), field: z.string().optional(), operation: z.string() }))
            .optional(),
          policies: z
            .array(
              z.strictObject({ id: z.uuid().optional(), name: z.string().optional(), fields: z.array(z.string()) }),
            )
            .optional(),
          hash: z.string().optional(),
        }),
        'What was imported, as operations, and what was left out; a dry run has the other members too.',
      ),
    },
    errors: ['conflict', 'invalid'],
  },
  'GET /api/{workspace}/schema/model': {
    summary: 'Read the data model, its names, roles and policies as a file',
    tag: dataModel,
    parameters: [parameter('ids', 'false leaves out who is who.', { type: 'string', enum: ['true', 'false'] })],
    answers: {
      '200': response(z.looseObject({ version: z.literal(1) }), 'The file, of `GET /api/system/schemas/model`.'),
    },
  },
  'POST /api/{workspace}/schema/plan': {
    summary: 'Tell what an apply of a model file would do',
    tag: dataModel,
    body: requestBody(z.strictObject({ model: modelFile }), { model: { version: 1 } }),
    answers: {
      '200': data(
        z.strictObject({
          plan: z.string(),
          changes: fileChanges,
          operations: schemaOperations,
          statements: z.array(z.strictObject({ sourceId: z.uuid(), sql: z.string() })),
          access: z.strictObject({ granted: fileRights, revoked: fileRights }),
          destructive: z.array(
            z.strictObject({
              operation: z.int(),
              path: z.string(),
              rows: z.int().nullable(),
              holders: z.int().optional(),
            }),
          ),
          missing: z.array(z.string()),
          warnings,
        }),
        'What would happen.',
      ),
    },
    errors: ['conflict'],
  },
  'POST /api/{workspace}/schema/apply': {
    summary: 'Apply a model file as it was planned',
    tag: dataModel,
    body: requestBody(
      z.strictObject({
        model: modelFile,
        plan: z.string(),
        allow: z.array(z.enum(['drop', 'failingTests'])).optional(),
      }),
      { model: { version: 1 }, plan: 'e3b0c44298fc1c149afbf4c8' },
    ),
    answers: { '200': data(z.strictObject({ changes: fileChanges }), 'What was done.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'GET /api/{workspace}/schema/drift': {
    summary: 'List the data sources that were changed outside of the service',
    tag: dataModel,
    answers: {
      '200': data(
        z.strictObject({
          sources: z.array(
            z.strictObject({
              sourceId: z.uuid(),
              since: z.iso.datetime(),
              hash: z.string(),
              operations: schemaOperations,
            }),
          ),
        }),
        'Since when, and what an introspection would import.',
      ),
    },
  },
  ...Object.fromEntries(structure),

  'POST /api/{workspace}/mcp': {
    summary: 'Speak the Model Context Protocol (streamable HTTP, stateless, JSON answers)',
    tag: 'Agents',
    body: requestBody(z.union([message, z.array(message)]), { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    answers: {
      '200': response(z.union([message, z.array(message)]), 'The answer to each request.'),
      '202': { description: 'There was nothing to answer.' },
      '400': response(z.union([message, refusal]), 'More than one credential, or no message of the protocol.'),
      '406': response(message, '`Accept` does not list both application/json and text/event-stream.'),
    },
  },

  'POST /api/{workspace}/sources/data': {
    summary: 'Create a data source',
    tag: dataSources,
    body: requestBody(sources.createBody(), {
      apiName: 'warehouse',
      provider: 'postgres',
      config: { connectionString: 'postgres://…' },
    }),
    answers: { '200': data(z.strictObject({ id: z.uuid() }), 'Its id.') },
    errors: ['conflict'],
  },
  'POST /api/{workspace}/sources/data/test': {
    summary: 'Try a configuration out',
    tag: dataSources,
    body: requestBody(sources.testBody(), { provider: 'postgres', config: { connectionString: 'postgres://…' } }),
    answers: { '204': noContent },
  },
  'POST /api/{workspace}/sources/data/introspect': {
    summary: 'Preview what a configuration would bring',
    tag: dataSources,
    body: requestBody(sources.testBody(), { provider: 'postgres', config: { connectionString: 'postgres://…' } }),
    answers: { '200': data(z.strictObject({ schema: z.looseObject({}), hash: z.string() }), 'The schema.') },
  },
  'DELETE /api/{workspace}/sources/data/{id}': {
    summary: 'Forget a data source; its data stays where it is',
    tag: dataSources,
    answers: { '204': noContent },
    errors: ['conflict'],
  },
  'GET /api/{workspace}/secrets': {
    summary: 'List the named secrets, without their values',
    tag: dataSources,
    answers: { '200': data(z.array(secret), 'Their names and times.') },
  },
  'PUT /api/{workspace}/secrets/{name}': {
    summary: 'Write a named secret, once every data source that uses it has passed its test with the new value',
    tag: dataSources,
    body: requestBody(secretBody(), { value: 'a password' }),
    answers: { '204': noContent },
  },
  'DELETE /api/{workspace}/secrets/{name}': {
    summary: 'Delete a named secret that no data source uses',
    tag: dataSources,
    answers: { '204': noContent },
    errors: ['conflict'],
  },
  'GET /api/{workspace}/connectors/data': {
    summary: 'List the data connectors of this instance',
    tag: dataSources,
    answers: {
      '200': response(
        z.strictObject({ data: z.array(connector), meta: z.strictObject({ broken }).optional() }),
        'The connectors; for administrators of the instance also the extensions that cannot be used.',
      ),
    },
  },
}
