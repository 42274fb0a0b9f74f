/** The dialect of PostgreSQL 14 and later, Neon and the embedded database, member by member. */
import type { Dialect } from '../dialect.ts'
import { MAX_JOINED_ROWS } from '../joined-inserts.ts'
import { compile, ident, literal, sql } from '../statement.ts'
import { writeQueue } from './advisory-locks.ts'
import { altered } from './altered.ts'
import { columnType } from './column-type.ts'
import { compare, compared, comparedValue, isOneOf, matches, ordered, ranked } from './comparisons.ts'
import { postgresDdl } from './ddl.ts'
import { explain } from './explain.ts'
import { elements, isEmpty, testJson } from './inside.ts'
import {
  answerList,
  confirmedRow,
  list,
  nestedMany,
  nestedOne,
  one,
  pieces,
  requiredList,
  tag,
  writtenList,
} from './rows.ts'
import { postgresSlots } from './slots.ts'
import { assigned, rowsOfTexts, typed } from './values.ts'
import { wire } from './wire.ts'
import {
  actor,
  allDefaults,
  confirmedWrite,
  isOfOne,
  remove,
  update,
  withActor,
  written,
  writtenOne,
} from './writes.ts'

export const postgres: Dialect = {
  title: 'PostgreSQL',
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  // Whether a backslash escapes depends on a setting, but not after E.
  quoteText: (text) =>
    text.includes('\\') ? ` E'${text.replaceAll(/['\\]/g, '$&$&')}'` : `'${text.replaceAll("'", "''")}'`,
  placeholder: (position) => `$${position}`,

  typed,
  assigned,
  altered,
  compare,
  isOneOf,
  matches,
  elements,
  isEmpty,
  testJson,
  compared,
  plannedOnce: sql` offset 0`,
  without: (found, lock) => sql`not exists (${found}${lock})`,
  ordered,
  ranked,
  mark: (column, field) => wire(column, field),
  cursorValue: comparedValue,
  comparesRows: true,
  splitsNulls: false,
  ownFirst(table, alias) {
    const [own, name] = [ident(alias, 'tableoid'), literal(compile(table, postgres).text)]
    return sql`${own} <> cast(${name} as regclass), ${own}`
  },
  wire,

  list,
  writtenList,
  requiredList: (rows, marker) => [requiredList(rows, marker)],
  pieces,
  one,
  nestedOne,
  nestedMany,
  tag,
  answerList,
  answerOne: ([row]) => row?.[0] ?? undefined,
  aggregates: () => import('./aggregates.ts').then(({ postgresAggregates }) => postgresAggregates),

  rowsOfTexts,
  maxJoinedRows: MAX_JOINED_ROWS,
  allDefaults,
  update,
  delete: remove,
  written: (write, rendered, marker) =>
    isOfOne(write, marker) ? writtenOne(write, rendered, marker) : written(write, rendered),
  updateOne: undefined,
  actor: {
    setActor: sql`select ${actor}`,
    written: (write, rendered, marker) =>
      isOfOne(write, marker)
        ? writtenOne(write, rendered, marker, withActor)
        : written(write, rendered, { more: withActor }),
  },
  confirming: {
    requiredList: (rows) => [confirmedRow(rows)],
    written: (write, rendered, marker) =>
      isOfOne(write, marker) ? confirmedWrite(write, rendered) : written(write, rendered),
  },
  transaction: 'whole',
  slots: postgresSlots,
  newSlots: () => postgresSlots,
  writeQueue,

  columnType,
  ddl: postgresDdl,
  explain,
}
