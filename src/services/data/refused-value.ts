/**
 * Finds the field whose value the database refused. MariaDB and MySQL name the column. For PostgreSQL, the message names a
 * type, or the request names only one field whose values only the database can check.
 */
import type { Collection, PrimitiveField } from '../../core/model/model.ts'
import type { SqlFault } from '../../core/sql/fault.ts'

/** `sent` is the text of the request's body and query. Returns undefined if the field is ambiguous. */
export function refusedField(
  { column, message }: SqlFault,
  collections: ReadonlySet<Collection>,
  sent: string,
): PrimitiveField | undefined {
  const named = namedIn(sent)
  const fields = [...collections].flatMap(({ primitives }) => primitives.filter(({ apiName }) => named.has(apiName)))
  if (message.startsWith('index row')) return only(fields.filter(({ id }) => [...collections].some(isLongIn(id))))
  if (column !== undefined) return only(fields.filter(({ dbName }) => dbName === column))
  const words = wordsOf(message)
  return only(fields.filter(({ native }) => native !== null && words.has(native.name))) ?? only(fields.filter(isJudged))
}

/** True if a collection has an index on the field for which values may be too long. */
function isLongIn(fieldId: string): (collection: Collection) => boolean {
  return ({ indexes }) =>
    indexes.some(({ fields }) =>
      fields.some(
        ({ id, type, isList }) => id === fieldId && (isList || !/^(int|float|date|time|uuid|boolean)/.test(type.name)),
      ),
    )
}

/** The words of a body and query, except its `fields`, `sort` and `deep`; they include all fields with values. */
export function namedIn(sent: string): ReadonlySet<string> {
  return wordsOf(sent.replace(/(^|&)(fields|sort|deep)[^&]*/g, ' ').replace(/%[0-9A-F]{2}/gi, ' '))
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/[^\p{L}\p{N}_$]+/u))
}

/** True for types whose values only the database can check. */
function isJudged({ native, type }: PrimitiveField): boolean {
  return native !== null || /^(date|time|json|decimal)/.test(type.name)
}

function only<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined
}
