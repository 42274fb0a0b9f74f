/**
 * The field whose value the database has refused. MariaDB and MySQL name its column; of PostgreSQL the name of a type in
 * the message tells, or that the request names one field only whose values are the database's to judge.
 */
import type { Collection, PrimitiveField } from '../../core/model/model.ts'
import type { SqlFault } from '../../core/sql/fault.ts'

/** `sent` is the text of the request's body and query; undefined where it does not tell. */
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

/** Whether a collection has an index on the field, whose values may be too long for one. */
function isLongIn(fieldId: string): (collection: Collection) => boolean {
  return ({ indexes }) =>
    indexes.some(({ fields }) =>
      fields.some(
        ({ id, type, isList }) => id === fieldId && (isList || !/^(int|float|date|time|uuid|boolean)/.test(type.name)),
      ),
    )
}

/** The names, among other words, of the fields that the text of a body and a query gives values for. */
export function namedIn(sent: string): ReadonlySet<string> {
  return wordsOf(sent.replace(/(^|&)(fields|sort|deep)[^&]*/g, ' ').replace(/%[0-9A-F]{2}/gi, ' '))
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/[^\p{L}\p{N}_$]+/u))
}

/** Of the other types the service knows what the database takes. */
function isJudged({ native, type }: PrimitiveField): boolean {
  return native !== null || /^(date|time|json|decimal)/.test(type.name)
}

function only<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined
}
