/** Generates pages of docs/ from code; test/core/configuration.test.ts checks that they are up to date. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type VariableName, variables } from '../src/config.ts'
import { durationText, sizeText } from '../src/config-values.ts'
import { type ErrorKind, errorCodes, type ServiceErrorCode, statusOf } from '../src/core/error-codes.ts'
import type { FieldType, TypeName } from '../src/core/model/field-type.ts'
import { operatorsOf } from '../src/core/model/operator.ts'
import { type Operator, operatorsAtPath } from '../src/core/model/vocabulary.ts'
import { errorMeanings } from './error-meanings.ts'
import { namingPage } from './naming-page.ts'
import { variableMeanings } from './variable-descriptions.ts'

export function configurationPage(): string {
  const rows = Object.entries(variables).map(
    ([name, [schema, preset]]) =>
      `| \`${name}\` | ${defaultOf(schema(), preset)} | ${variableMeanings[name as VariableName]} |`,
  )
  return `# Configuration

Generated from \`src/config.ts\` and \`scripts/variable-descriptions.ts\` by \`npm run docs\`; do not edit.

All configuration comes from environment variables (on Workers: variables and secrets). A \`SERVICE_\` variable that is not
listed is warned of by name; a wrong value fails the start with the variable and the reason. Durations are written
\`900s\`, \`15m\`, \`12h\`, \`30d\`, sizes in bytes or as \`512KiB\`, \`4MiB\`; an empty value counts as unset.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`
}

export function errorsPage(): string {
  const statuses = Object.entries(statusOf).map(([kind, status]) => `| ${status} | ${conditions[kind as ErrorKind]} |`)
  const codes = Object.entries(errorCodes).map(
    ([code, { kind, message }]) =>
      `| \`${code}\` | ${statusOf[kind]} | ${message ?? 'the reason'} | ${errorMeanings[code as ServiceErrorCode]} |`,
  )
  return `# Errors

Generated from \`src/core/error-codes.ts\` and \`scripts/error-meanings.ts\` by \`npm run docs\`; do not edit.

Every error has the body \`{ message, source?, code?, meta? }\`. \`source\` nests the cause, the innermost last; a program should read the
deepest \`code\`. Messages never hold a stack, SQL, a host or a secret; an operator finds those in the log, by the \`X-Request-Id\` of
the answer.

## Statuses

| Status | When |
|---|---|
${statuses.join('\n')}

## Codes

| Code | Status | Message | Meaning |
|---|---|---|---|
${codes.join('\n')}
`
}

export function operatorsPage(): string {
  const used = everyOperator.filter((operator) => types.some((type) => operatorsOf(type, false).has(operator)))
  const rows = types.map((type) => {
    const known = operatorsOf(type, false)
    return `| \`${type.name}\` | ${used.map((operator) => (known.has(operator) ? '•' : '')).join(' | ')} |`
  })
  const meanings = everyOperator.map((operator) => `| \`${operator}\` | ${operatorMeanings[operator]} |`)
  return `# Filter operators

Generated from \`src/core/model/operator.ts\` by \`npm run docs\`; do not edit.

A filter names a field, then an operator: \`filter[title][_contains]=lamp\`, or as one JSON text
\`filter={"title":{"_contains":"lamp"}}\`. Conditions beside each other must all hold; \`_and\`, \`_or\` take lists of filters, \`_not\` takes
one. A relation is followed by its name; one to many rows by \`_some\` (where none is said), \`_every\` or \`_none\`.

| Operator | Matches where the field |
|---|---|
${meanings.join('\n')}

Nothing but \`_eq: null\`, \`_neq: null\`, \`_in\` with a null and \`_null\` matches by null: a comparison with null is neither true nor false.
Nor is one at a path where there is nothing, a JSON null, a list, an object or a value of another type; two paths of one field need \`_and\`.
There texts are compared by code points, and numbers on MySQL and MariaDB as 64-bit floating point.

## By type

Which operators a field of each type knows. Every nullable field knows \`_null\` besides; lists know
\`_has\`, \`_has_any\`, \`_has_all\` and \`_empty\`, but for those of \`geometry\`. At a path of JSON there are ${operatorsAtPath.map((operator) => `\`${operator}\``).join(', ')}.

| Type | ${used.map((operator) => `\`${operator}\``).join(' | ')} |
|---|${used.map(() => ':-:|').join('')}
${rows.join('\n')}
`
}

const operatorMeanings: Readonly<Record<Operator, string>> = {
  _eq: 'is equal; texts are compared exactly, capitals, accents and trailing blanks included',
  _neq: 'is not equal',
  _lt: 'is less, or earlier',
  _lte: 'is less or equal',
  _gt: 'is greater, or later',
  _gte: 'is greater or equal',
  _in: 'is one of a list, at most 1,000 (10,000 by QUERY): `filter[id][_in][0]=1&filter[id][_in][1]=3`; of an empty list nothing',
  _nin: 'is none of a list; of an empty list everything',
  _between: 'lies between two values, both included: `filter[price][_between][0]=5&filter[price][_between][1]=9`',
  _nbetween: 'lies outside of them',
  _contains:
    'has the text in it; `%` and `_` stand for themselves. On JSON: contains this JSON, as PostgreSQL has it: objects contain fewer members, lists the same elements in any order, and at the top only a list a scalar; at most 50 values, 10 levels',
  _icontains: 'has the text in it, whatever the capitals',
  _ncontains: 'does not have it in it',
  _nicontains: 'does not have it in it, whatever the capitals',
  _starts_with: 'begins with the text',
  _nstarts_with: 'does not begin with it',
  _ends_with: 'ends with the text',
  _nends_with: 'does not end with it',
  _has: 'is a list with this element; a null list matches nothing: `filter[tags][_has]=new`',
  _has_any: 'is a list with at least one of these elements',
  _has_all: 'is a list with each of these elements',
  _empty: 'is a list without elements (`true`), or with some (`false`)',
  _has_key: 'is a JSON object with this member',
  _path:
    'is followed by operators that compare the scalar at a path, of names and, as JSON, of places in lists: `filter={"details":{"_path":["address","city"],"_eq":"Paris"}}`, `{"_path":["lines",0,"price"],"_gt":5}`',
  _null: 'is null (`true`) or is not (`false`); nullable fields only',
}

const everyOperator = Object.keys(operatorMeanings) as readonly Operator[]

const typesByName: Readonly<Record<TypeName, FieldType>> = {
  string: { name: 'string', params: { length: 'unlimited' } },
  int8: { name: 'int8' },
  int16: { name: 'int16' },
  int32: { name: 'int32' },
  int64: { name: 'int64' },
  uint8: { name: 'uint8' },
  uint16: { name: 'uint16' },
  uint32: { name: 'uint32' },
  uint64: { name: 'uint64' },
  float32: { name: 'float32' },
  float64: { name: 'float64' },
  decimal: { name: 'decimal', params: { kind: 'unconstrained' } },
  boolean: { name: 'boolean' },
  uuid: { name: 'uuid' },
  date: { name: 'date' },
  time: { name: 'time' },
  dateTime: { name: 'dateTime' },
  dateTimeWithTimezone: { name: 'dateTimeWithTimezone' },
  json: { name: 'json' },
  bytes: { name: 'bytes' },
  geometry: { name: 'geometry' },
}

const types = Object.values(typesByName)

const conditions: Readonly<Record<ErrorKind, string>> = {
  badRequest: 'More than one credential source, a malformed query string or a request that is no HTTP',
  unauthenticated: 'A credential that is present and bad; a failed login',
  paymentRequired: 'The license is locked (items only), or a write would exceed one of its hard limits',
  forbidden: 'The caller may not do this; a hidden thing and a missing one are answered alike',
  notFound: 'No such address, workspace, source or item',
  methodNotAllowed: 'The address does not know the method; `Allow` lists those that it knows',
  conflict: 'A name that is taken, a second bootstrap, the last Administrator',
  preconditionFailed: 'The item has none of the tags that `If-Match` names',
  tooLarge: 'The body is larger than allowed',
  unsupportedMediaType: 'The body is not `application/json`, or is compressed',
  rangeNotSatisfiable: 'The file has none of the bytes that `Range` asks for',
  invalid: 'Well-formed HTTP that says something wrong: body, query, value, configuration',
  throttled: 'Too many sign-ins; `Retry-After` says when to try again',
  unfit:
    'A migration that does not fit the model or the data (3001 to 3014): its author can mend it, and no fault is logged',
  failed: 'A fault of ours or of a data source',
  unavailable:
    'Starting, ending, a system database that cannot be reached, waiting too long for a migration lock, a query over its time limit, or a data source that is restarting or deactivated',
  abandoned: 'The client disconnected before there was an answer; seen in the log only',
}

type Entry = (typeof variables)[keyof typeof variables]

/** Formats a default as a user would write it. */
function defaultOf(schema: ReturnType<Entry[0]>, value: Entry[1]): string {
  if (value === undefined) return '-'
  if (Array.isArray(value) || String(value) === '') return '-'
  if (typeof value !== 'number') return `\`${value}\``
  if (schema.safeParse('1h').success) return `\`${durationText(value)}\``
  if (schema.safeParse('1KiB').success) return `\`${sizeText(value)}\``
  return `\`${value}\``
}

if (import.meta.main) {
  const docs = join(import.meta.dirname, '../docs')
  writeFileSync(join(docs, 'configuration.md'), configurationPage())
  writeFileSync(join(docs, 'errors.md'), errorsPage())
  writeFileSync(join(docs, 'names.md'), namingPage())
  writeFileSync(join(docs, 'operators.md'), operatorsPage())
}
