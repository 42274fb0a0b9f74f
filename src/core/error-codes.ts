/**
 * Every `code` of an error response (docs/contract.md#errors). docs/errors.md is generated from this list; a test finds
 * codes that are missing here.
 */
import type { ErrorKind } from './error.ts'

type Meaning = { readonly kind: ErrorKind; readonly message: string; readonly meaning: string }

export const errorCodes: Readonly<Record<string, Meaning>> = {
  '100': {
    kind: 'invalid',
    message: 'The data source rejected the query',
    meaning: 'A connector cannot serve a valid request as it was asked',
  },
  '1001': { kind: 'invalid', message: 'Value out of range', meaning: 'A value does not fit its column' },
  '1002': { kind: 'invalid', message: 'Unique constraint failed', meaning: 'A value must be unique' },
  '1003': { kind: 'invalid', message: 'Null constraint failed', meaning: 'A required value is missing' },
  '1004': {
    kind: 'invalid',
    message: 'Foreign key constraint failed',
    meaning: 'A referenced item is missing or still referenced',
  },
  '1005': {
    kind: 'invalid',
    message: 'Check constraint failed',
    meaning: 'The database, or a trigger in it, checks the value and refused it',
  },
  '1006': {
    kind: 'invalid',
    message: 'The answer is too large: ask for fewer items or fields',
    meaning: 'The answer would have more than 16 MiB (a list that is sent in pieces: 64 MiB in all; over MCP: 4 MiB)',
  },
  '2001': {
    kind: 'invalid',
    message: 'Invalid extension configuration',
    meaning: 'The configuration of a data source is wrong',
  },
  '2002': {
    kind: 'invalid',
    message: 'Invalid extension configuration',
    meaning: 'The external system or database refuses the account',
  },
  '2003': {
    kind: 'invalid',
    message: 'Invalid extension permissions',
    meaning: 'A connector asked for a host outside of its grant',
  },
  '2004': { kind: 'notFound', message: 'Table does not exist', meaning: 'A collection is gone in its data source' },
  '3001': migration('An id is in use already'),
  '3002': migration('A name is in use already, in the model or in the database'),
  '3003': migration('There is nothing of this id, or not where it was looked for'),
  '3004': migration('A policy names what would be deleted'),
  '3005': migration('A relation, an index, a key or something in the database uses what would be changed or deleted'),
  '3006': migration('The two sides of a relation do not fit each other, or its actions do not fit its fields'),
  '3007': migration('An index names a field twice, or a primary key cannot be this one'),
  '3008': migration('A default value is not one of its field'),
  '3009': migration('Values of a type cannot become those of another without loss'),
  '3010': migration('The data source does not support this: a type, an index, an action, or migrations at all'),
  '3011': migration('A system collection, a system namespace or something read-only would be changed'),
  '3012': migration('The namespace is missing, of another source, or may not have this name'),
  '3013': migration(
    'Existing data prevents the change: nulls, duplicate values, missing references, values out of range',
  ),
  '3014': migration('An earlier migration of the data source did not end: introspect it first'),
  '4000': {
    kind: 'invalid',
    message: 'Failed to execute query',
    meaning: 'The query is wrong; the place and reason are nested',
  },
  '4009': { kind: 'invalid', message: 'the place and the reason', meaning: 'Nested in `Failed to execute query`' },
  '4010': {
    kind: 'invalid',
    message: 'Empty selection, or Operation not supported',
    meaning: 'Nothing is selected, or a connector does not declare the operation',
  },
  '4014': {
    kind: 'invalid',
    message: 'Failed to execute query',
    meaning:
      'A read may bring more rows than `SERVICE_QUERY__MAX_ROWS`; `meta` has the `path` that brings most, the `product` of its limits and the `max`',
  },
  '5001': {
    kind: 'failed',
    message: 'Failed to connect to the database',
    meaning: 'The database or external system is away; trying again may help',
  },
  '5002': {
    kind: 'failed',
    message: 'Failed to connect to the database',
    meaning: 'The external system throttles; trying again may help',
  },
  '5003': {
    kind: 'failed',
    message: 'The table or view is not ready for this',
    meaning: 'Its state in the database forbids it, such as a view that was never refreshed or whose tables are gone',
  },
  '5004': {
    kind: 'unavailable',
    message: 'The query was ended: it took longer than its time limit',
    meaning:
      '`SERVICE_QUERY__TIMEOUT`; of a write nothing is left; ask for fewer items, fewer relations or by an index',
  },
  '6001': limit('workspaces'),
  '6002': limit('service_accounts'),
  '6003': limit('sso_enabled'),
  '6004': limit('seats'),
  '6005': limit('custom_roles'),
  '6006': limit('custom_permission_rules_enabled'),
  '6007': limit('custom_policies'),
  '7001': {
    kind: 'invalid',
    message: 'Invalid extension permissions',
    meaning: 'The grant is not the required set, which is in `meta.permissions`',
  },
  '7002': {
    kind: 'invalid',
    message: 'The connector has no connection test',
    meaning: 'The connector does not implement `testConnection`',
  },
}

function migration(meaning: string): Meaning {
  return { kind: 'unfit', message: 'the reason', meaning }
}

function limit(entitlement: string): Meaning {
  return {
    kind: 'paymentRequired',
    message: 'The requested operation would exceed licensed hard limits',
    meaning: `\`${entitlement}\` of the license; \`meta.violations\` has usage and limit`,
  }
}
