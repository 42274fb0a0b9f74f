/**
 * Reads the catalog of PostgreSQL 14 and later. A domain is treated as its base type, with the domain's limits and defaults.
 */
import { parseJson } from '../../exact-json.ts'
import type { Check } from '../../model/checks.ts'
import type { ReferentialAction } from '../../model/model.ts'
import { withChecks } from '../checks/column.ts'
import type { ReadCheck } from '../checks/expression.ts'
import type { Rows } from '../dialect.ts'
import { assembleSchema, type CatalogRow, type Introspection } from '../introspect.ts'
import type { SourceColumn } from '../source-schema.ts'
import { compile } from '../statement.ts'
import { type AnyRow, type ColumnRow, catalog, catalogDigest, DIGEST, type Expression } from './catalog.ts'
import { fieldTypeOf, type Types } from './catalog-types.ts'
import { printed } from './checks.ts'
import { postgres } from './dialect.ts'
import { postgresIdentities } from './identities.ts'

/**
 * Statements about a catalog join many small tables, for which the planner overestimates the cost, so a server with JIT
 * compiles them: seconds for a query of milliseconds. Servers without the setting are left alone.
 */
const WITHOUT_JIT = `select set_config('jit', 'off', true) where current_setting('jit', true) is not null`

export const postgresIntrospection: Introspection = {
  settings: [{ text: WITHOUT_JIT, params: [] }],
  statement: (scope) => compile(catalog(scope), postgres),
  digest: {
    statement: (scope) => compile(catalogDigest(scope), postgres),
    of: (rows) => rows.find(([text]) => text?.startsWith(DIGEST))?.[0] ?? '',
  },
  parse,
  identities: postgresIdentities,
}

function parse(rows: Rows, _inspected?: Rows, readCheck?: ReadCheck): ReturnType<Introspection['parse']> {
  const read = rows.map(([text]) => parseJson(text ?? '') as AnyRow)
  const types = new Map(read.flatMap((row) => (row.kind === 'type' ? [[row.oid, row] as const] : [])))
  const checks = Map.groupBy(
    read.filter((row) => row.kind === 'check'),
    ({ schema, table, column }) => JSON.stringify([schema, table, column]),
  )
  return assembleSchema(
    read.flatMap((row): readonly CatalogRow[] => {
      if (row.kind === 'type' || row.kind === 'check' || row.kind === 'digest') return []
      if (row.kind === 'column') {
        const found = checks.get(JSON.stringify([row.schema, row.table, row.name])) ?? []
        const known = [...found, ...checksOf(row.type, types)].flatMap((check) => named(check, readCheck))
        return [{ ...row, column: withChecks(columnOf(row, types), known, ({ isLoose }) => !isLoose) }]
      }
      if (row.kind === 'foreignKey') {
        return [{ ...row, onDelete: actionOf(row.onDelete), onUpdate: actionOf(row.onUpdate) }]
      }
      return [row]
    }),
  )
}

const actions: Readonly<Record<string, ReferentialAction>> = {
  a: 'noAction',
  r: 'restrict',
  c: 'cascade',
  n: 'setNull',
  d: 'setDefault',
}

function actionOf(code: string): ReferentialAction {
  return actions[code] ?? 'noAction'
}

function columnOf(row: ColumnRow, types: Types): SourceColumn {
  const own = resolveDomain({ oid: row.type, mod: row.mod, isNotNull: row.isNotNull, hasDefault: false }, types)
  const elementOid = types.get(own.oid)?.element ?? null
  const element = elementOid === null ? own : resolveDomain({ ...own, oid: elementOid }, types)
  const elementType = types.get(element.oid)
  const isList = elementOid !== null
  const known = fieldTypeOf(elementType, element.mod, types)
  // `=` treats different texts of such a column as equal; for citext that is the purpose of the type.
  const isLoose = row.isNondeterministic && elementType?.name !== 'citext'
  const counts = row.identity !== '' || row.default?.startsWith('nextval(') === true
  const hasDefault = row.default !== null || own.hasDefault
  return {
    dbName: row.name,
    type: known.type,
    isNullable: !own.isNotNull,
    isList,
    isReadOnly: known.isReadOnly || row.isGenerated || row.identity === 'a',
    defaultKind:
      counts && own.isNotNull && !isList && /^int(16|32|64)$/.test(known.type.name)
        ? 'autoincrement'
        : (hasDefault || counts) && !row.isGenerated
          ? 'database'
          : 'none',
    isLoose,
    native: isLoose ? null : (known.native ?? null),
  }
}

function named({ name, expression }: Expression, readCheck: ReadCheck | undefined): readonly Check[] {
  const check = readCheck?.(expression, printed)
  return check === undefined ? [] : [{ name, limits: check.limits }]
}

/** The checks of a domain and of the domains it is based on. */
function checksOf(oid: string, types: Types): readonly Expression[] {
  const type = types.get(oid)
  return type?.form === 'd' ? [...(type.checks ?? []), ...checksOf(type.base, types)] : []
}

type Typing = {
  readonly oid: string
  readonly mod: number
  readonly isNotNull: boolean
  readonly hasDefault: boolean
}

/** Resolves nested domains to their base type; collects type modifiers and `not null`. */
function resolveDomain(typing: Typing, types: Types): Typing {
  const type = types.get(typing.oid)
  if (type?.form !== 'd') return typing
  const isNotNull = typing.isNotNull || type.isNotNull
  const hasDefault = typing.hasDefault || type.hasDefault
  return resolveDomain({ oid: type.base, mod: type.mod, isNotNull, hasDefault }, types)
}
