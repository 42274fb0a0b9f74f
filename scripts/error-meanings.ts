/** What each error code means, for docs/errors.md. */
import type { ServiceErrorCode } from '../src/core/error-codes.ts'
import type { LicenseEntitlement } from '../src/core/license/license.ts'

export const errorMeanings: Readonly<Record<ServiceErrorCode, string>> = {
  '100': 'A connector cannot serve a valid request as it was asked',
  '1001': 'A value does not fit its column',
  '1002': 'A value must be unique, or keep apart from those of other items (an exclusion constraint)',
  '1003': 'A required value is missing',
  '1004': 'A referenced item is missing or still referenced',
  '1005': 'The database, or a trigger in it, checks the value and refused it',
  '1006':
    'The answer would have more than 16 MiB (a list that is sent in pieces: 64 MiB in all; over MCP: 4 MiB for all calls of a request)',
  '2001': 'The configuration of a data source is wrong',
  '2002': 'The external system or database refuses the account',
  '2003': 'A connector asked for a host outside of its grant',
  '2004': 'A collection is gone in its data source',
  '3001': 'An id is in use already',
  '3002': 'A name is in use already, in the model or in the database',
  '3003': 'There is nothing of this id, or not where it was looked for',
  '3004':
    'A policy names what would be deleted, or compares what would get another type, or names still what would be made again; or the change needs rights that its maker lacks, or a name by which another data source of the same database goes',
  '3005': 'A relation, an index, a key or something in the database uses what would be changed or deleted',
  '3006': 'The two sides of a relation do not fit each other, or its actions do not fit its fields',
  '3007': 'An index names a field twice, or a primary key cannot be this one',
  '3008': 'A default value is not one of its field',
  '3009': 'Values of a type cannot become those of another without loss',
  '3010': 'The data source does not support this: a type, an index, an action, or migrations at all',
  '3011':
    'A system collection, a system namespace or something read-only would be changed, or a table would get a name of ledgers',
  '3012': 'The namespace is missing, of another source, or may not have this name',
  '3013': 'Existing data prevents the change: nulls, duplicate values, missing references, values out of range',
  '3014': 'An earlier migration of the data source did not end: introspect it first',
  '3015': 'The fields declared as the key of a view are none: rows share a key, or lack a part of it',
  '4000': 'A parameter of the query string is wrong; nested with code `4009`',
  '4009': 'The query is wrong; the place and the reason are nested',
  '4010': 'Nothing is selected, or the data source cannot do it, as where a connector does not declare it',
  '4013': 'A write of many would change more items than its `max`; `meta.matched` counts them, one beyond it at most',
  '4014':
    'A read may bring more rows than `SERVICE_QUERY__MAX_ROWS`; `meta` has the `path` that brings most, the `product` of its limits and the `max`',
  '4091': 'Send it again after `Retry-After` seconds',
  '4092': 'Read the items; a write that is still wanted takes a new key',
  '4093': 'The connection to the data source was lost, or the service ended, while it ran: read the items, then decide',
  '4094':
    'A plan of a model file, a migration or an import rests on another state, which `meta.moved` names for a file; make a new plan, or ask the dry run again',
  '4095': 'A migration of a data source did not end: introspect those in `meta.sources` first',
  '4096':
    'Items that were deleted, or have no key, cannot be read again; long answers of one caller are kept up to a bound. The write was done',
  '4097': 'Those of `meta.tests`, which pass now: change them, or say that they may fail with `?allow=failingTests`',
  '4120': 'The item has not the tag that `If-Match` names: it was changed since it was read',
  '4221': 'A key belongs to one request: method, address, `If-Match` and body; a new one for anything else',
  '4222': 'Applying the model file would destroy what `meta.destructive` lists: allow it with `allow: ["drop"]`',
  '5001': 'The database or external system is away; trying again may help',
  '5002': 'The external system throttles; trying again may help',
  '5003': 'Its state in the database forbids it, such as a view that was never refreshed or whose tables are gone',
  '5004': '`SERVICE_QUERY__TIMEOUT`; of a write nothing is left; ask for fewer items, fewer relations or by an index',
  '5005':
    'The database has ended the write again and again in favour of others (deadlocks); nothing of it is left: send it again after `Retry-After` seconds',
  '5006': 'A standby, or a server or an account that only reads; nothing was written',
  '5007':
    'A request waited for a connection to the database for as long as it may, or the database has as many as it allows; nothing was sent: send it again after `Retry-After` seconds',
  '5008':
    'Bodies that are arriving or parsed, or answers that their clients have not taken yet, hold as much memory as they may together; nothing was written: send it again after `Retry-After` seconds',
  '6001': limit('workspaces'),
  '6002': limit('service_accounts'),
  '6003': limit('sso_enabled'),
  '6004': limit('seats'),
  '6005': limit('custom_roles'),
  '6006': limit('custom_permission_rules_enabled'),
  '6007': limit('custom_policies'),
  '7001': 'The grant is not the required set, which is in `meta.permissions`',
  '7002': 'The connector does not implement `testConnection`',
}

function limit(entitlement: LicenseEntitlement): string {
  return `\`${entitlement}\` of the license; \`meta.violations\` has usage and limit`
}
