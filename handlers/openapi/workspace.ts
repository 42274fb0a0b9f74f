/** Descriptions of the routes of a workspace except items: data model, data sources. */

import * as z from 'zod'
import { migrationSchema } from '../../src/core/migration/operation.ts'
import type { RouteDescription, RouteDescriptions } from '../../src/core/openapi/system.ts'
import { introspectionBody } from '../routes/schema.ts'
import { secretBody } from '../routes/secrets.ts'
import * as sources from '../routes/sources.ts'
import { addresses } from '../routes/structure.ts'
import { assetRoutes } from './assets.ts'
import { data, deletion, listOf, noContent, oneOf, parameter, requestBody, response } from './describe.ts'
import { rightsRoutes, warnings } from './rights.ts'

const dataModel = 'Data model'
const dataSources = 'Data sources'

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

const source = z.strictObject({
  id: z.uuid(),
  apiName: z.string(),
  provider: z.string(),
  host: z.string().optional(),
  port: z.number().int().optional(),
  permissions: z.array(permission),
  secrets: z.array(z.string()),
  mayChange: z.boolean(),
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
const called = z.array(z.strictObject({ id: z.uuid(), name: z.string() })).nullable()
const breaks = z.strictObject({ policies: called, views: called, tests: called })

export const workspaceRoutes: RouteDescriptions = {
  ...assetRoutes,
  ...rightsRoutes,
  'GET /api/{workspace}/audit-log': {
    ...listOf('auditLog', 'Audit log'),
    summary: 'List what happened in a workspace',
  },

  'GET /api/{workspace}/schema': {
    summary: 'Read the manifest of the data model',
    tag: dataModel,
    parameters: [
      parameter('collections', 'Only these, by their names with commas between.', { type: 'string' }),
      parameter('usable', 'Of what the caller can use, for any caller.', { type: 'string', enum: ['true', 'false'] }),
    ],
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
            plan: z.string(),
            changes: fileChanges,
            rows: z.array(
              z.strictObject({
                collection: z.string(),
                rows: z.int().nullable(),
                isAtLeast: z.literal(true).optional(),
                destroys: z.boolean(),
              }),
            ),
            breaks,
            inverse: schemaOperations.nullable(),
            restoresData: z.boolean(),
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
          breaks: breaks.optional(),
          hash: z.string().optional(),
          plan: z.string().optional(),
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
  'GET /api/{workspace}/sources/data/{id}': {
    summary: 'Read where a data source leads, what it was granted and which secrets it uses',
    tag: dataSources,
    answers: { '200': data(source, 'The data source, without its configuration.') },
  },
  'PATCH /api/{workspace}/sources/data/{id}': {
    summary: 'Give a data source another configuration, once it has passed its test',
    tag: dataSources,
    body: requestBody(sources.changeBody(), { config: { connectionString: 'postgres://…' } }),
    answers: { '204': noContent },
    errors: ['conflict'],
  },
  'DELETE /api/{workspace}/sources/data/{id}': deletion(
    'Forget a data source; its data stays where it is',
    dataSources,
    { errors: ['conflict'] },
  ),
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
  'DELETE /api/{workspace}/secrets/{name}': deletion('Delete a named secret that no data source uses', dataSources, {
    errors: ['conflict'],
  }),
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
