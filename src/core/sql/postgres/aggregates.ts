/** Aggregates and grouping of PostgreSQL. */
import { parseJson } from '../../exact-json.ts'
import type { PrimitiveField } from '../../model/model.ts'
import type { AggregateFunction } from '../../model/vocabulary.ts'
import type { Truncation } from '../../plan/plan.ts'
import type { AggregateSyntax } from '../dialect.ts'
import type { SqlFault } from '../fault.ts'
import { empty, literal, param, type Sql, sql } from '../statement.ts'
import { compared, isLoose } from './comparisons.ts'
import { OVERFLOW, object } from './rows.ts'
import { asText } from './wire.ts'

export const postgresAggregates: AggregateSyntax = {
  value,
  key,
  truncated,
  call,
  end: empty,
  object,
  lacksZone,
  overflows,
  estimate: {
    guess: (rows) => sql`explain (format json) ${rows}`,
    read: ([[plan] = [null]]) => {
      const [{ Plan: top = {} } = {}] = parseJson(plan ?? '[]') as { Plan?: { 'Plan Rows'?: number } }[]
      return top['Plan Rows']
    },
    limit: sql`select set_config('statement_timeout', '50', true)`,
  },
}

function lacksZone({ state, routine = '' }: SqlFault): boolean {
  return state === '22023' && /zone/i.test(routine)
}

/** Classifies overflows by the server function that failed; `OVERFLOW` also raises the error of an answer that is too large. */
function overflows({ state, routine = '' }: SqlFault): ReturnType<AggregateSyntax['overflows']> {
  if (routine === OVERFLOW) return 'doubles'
  if (state !== '22003') return undefined
  if (routine.startsWith('float8in')) return 'averages'
  return routine.startsWith('make_result') ? 'decimals' : undefined
}

/** Normalizes numbers so that equal ones have the same form: without a negative zero, or trailing zeros. */
function value(column: Sql, field: PrimitiveField): Sql {
  const { type, native } = field
  const plain = compared(column, field)
  if (native) return plain
  if (type.name === 'float32') return sql`(${plain} + 0::real)`
  if (type.name === 'float64') return sql`(${plain} + 0::double precision)`
  return type.name === 'decimal' && type.params.kind === 'unconstrained' ? sql`trim_scale(${plain})` : plain
}

function key(shown: Sql, field: PrimitiveField): Sql | undefined {
  return isLoose(field) ? sql`${asText(shown, false)} collate "C"` : undefined
}

function truncated(column: Sql, field: PrimitiveField, { unit, zone }: Truncation): Sql {
  const { name } = field.type
  const local =
    name === 'dateTimeWithTimezone' ? sql`(${column} at time zone ${zoneOf(zone)})` : sql`${column}::timestamp`
  const start = sql`date_trunc(${literal(unit)}, ${local})`
  return unit === 'hour' || unit === 'minute' ? start : sql`${start}::date`
}

/** An offset is an interval, because as a text its sign would be that of POSIX, positive to the west. */
function zoneOf(zone: Truncation['zone']): Sql {
  if (zone.kind === 'named') return sql`${param(zone.name)}::text`
  return zone.minutes === 0 ? sql`'UTC'` : sql`${param(`${zone.minutes} minutes`)}::interval`
}

function call(called: AggregateFunction, operand: Sql, field: PrimitiveField): Sql {
  const { name } = field.type
  const isFloat = name === 'float32' || name === 'float64'
  switch (called) {
    case 'count':
      return sql`count(${operand})`
    case 'countDistinct':
      return sql`count(distinct ${key(operand, field) ?? operand})`
    case 'sum':
      return isFloat ? sql`sum(${operand}::double precision)` : sql`sum(${operand})::numeric`
    case 'avg':
      // The database's own function fails if a square is too large, and returns other digits than other databases.
      return average(call('sum', operand, field), sql`count(${operand})`)
    case 'min':
    case 'max':
      return extreme(called, operand, field)
  }
}

/** The database fails for a sum or quotient that is closer to 0 than any double, so this returns 0. */
function average(sum: Sql, count: Sql): Sql {
  return sql`case when abs(${sum}) < 5e-324 * ${count} then 0 else ${sum}::double precision / ${count} end`
}

/** Some types have an order, but no `min` and `max`. */
function extreme(called: 'min' | 'max', operand: Sql, { native }: PrimitiveField): Sql {
  const hasOwn = !native?.isOrdered || native.values !== undefined || withExtremes.has(native.name)
  if (hasOwn) return called === 'min' ? sql`min(${operand})` : sql`max(${operand})`
  const order = called === 'min' ? sql`asc` : sql`desc`
  return sql`(array_agg(${operand} order by ${operand} ${order}) filter (where ${operand} is not null))[1]`
}

const withExtremes: ReadonlySet<string> = new Set(['bpchar', 'citext', 'inet', 'interval', 'money', 'oid', 'timetz'])
