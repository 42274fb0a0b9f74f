/** Routes of members, roles, policies, invitations and access in the OpenAPI documents. */
import * as z from 'zod'
import { actions } from '../../src/core/access/access.ts'
import { entitlementSchema } from '../../src/core/access/entitlement.ts'
import { policyContentSchema } from '../../src/core/access/policy.ts'
import type { RouteDescriptions } from '../../src/core/openapi/system.ts'
import { ALLOW, FAILING_TESTS } from '../http/failing-tests.ts'
import { effectBody, explainBody, testBody } from '../routes/access.ts'
import * as invitations from '../routes/invitations.ts'
import * as members from '../routes/members.ts'
import * as policies from '../routes/policies.ts'
import * as roles from '../routes/roles.ts'
import { data, deletion, item, listOf, oneOf, parameter, requestBody } from './describe.ts'

const rights = 'Roles, policies and members'

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
  allowed: z.boolean().nullable(),
  policies: z.array(
    z.strictObject({
      id: z.uuid(),
      name: z.string(),
      allows: z.boolean().nullable(),
      reason: z.enum(['action', 'filter', 'field', 'user']).optional(),
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
    items: z.enum(['all', 'some']).optional(),
    members: z.int(),
    userIds: z.array(z.uuid()),
    isAnonymous: z.boolean(),
  }),
)

/** Warnings about writes that bypass the checks of a policy. */
export const warnings = z.array(
  z.strictObject({ kind: z.enum(['action', 'default']), field: z.string(), by: z.string(), message: z.string() }),
)
const warned = z.strictObject({ warnings })
const savedPolicy = 'The policy. Whoever reads the data model is warned of what writes by itself what it compares.'

export const rightsRoutes: RouteDescriptions = {
  'GET /api/{workspace}/members': listOf('members', rights),
  'PATCH /api/{workspace}/members/{id}': {
    summary: 'Change a member’s roles, or suspend them',
    tag: rights,
    parameters: [mayFail],
    body: requestBody(members.updateBody(), { status: 'suspended' }),
    answers: { '200': item('members', 'The member.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'DELETE /api/{workspace}/members/{id}': deletion('Remove a member', rights, {
    parameters: [mayFail],
    errors: ['conflict'],
  }),
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
  'DELETE /api/{workspace}/roles/{id}': deletion('Delete a role', rights, {
    parameters: [mayFail],
    errors: ['conflict'],
  }),
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
  'DELETE /api/{workspace}/policies/{id}': deletion('Delete a policy, also from the roles that have it', rights, {
    parameters: [mayFail],
    errors: ['conflict'],
  }),
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
  'DELETE /api/{workspace}/invitations/{id}': deletion('Take an invitation back', rights),
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
    answers: {
      '200': data(
        explained,
        'Whether it is allowed, and what each policy of theirs says of it; null where that depends on who has the roles.',
      ),
    },
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
  'DELETE /api/{workspace}/access/tests/{id}': deletion('Delete an access test', rights, { errors: ['forbidden'] }),
}
