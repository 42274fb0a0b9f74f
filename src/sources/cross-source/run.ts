/** The context of a request over several sources, and the keys that join rows of two sources. */
import { parseJson } from '../../core/exact-json.ts'
import type { RelationField } from '../../core/model/model.ts'
import { queryFault } from '../../core/query/parse.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import type { AnswerRoom } from '../answer-room.ts'
import type { ReadOptions, Source, TextColumn } from '../source.ts'

export type Open = (sourceId: string) => Source

/** The context of one request. */
export type Run = {
  readonly open: Open
  readonly bindings: Bindings
  readonly options: ReadOptions | undefined
  readonly room: AnswerRoom
}

/** Maximum rows of one look-up; some search engines return no more. */
export const PAGE = 1_000

export function onlyJoin(relation: RelationField): RelationField['joins'][number] {
  const [join] = relation.joins
  if (join !== undefined && relation.joins.length === 1) return join
  throw queryFault(
    `fields.${relation.apiName}`,
    'has a key of several fields, which cannot be followed into another source',
  )
}

/** The keys of another source that a column's character set can hold; comparing the column with others fails. */
export async function heldKeys(column: TextColumn, keys: readonly string[], run: Run): Promise<readonly string[]> {
  const doubtful = column.field.type.name === 'string' ? keys.filter((key) => !IN_EVERY_SET.test(key)) : []
  if (doubtful.length === 0) return keys
  const source = run.open(column.collection.sourceId)
  const held = new Set((await source.heldTexts?.(column, doubtful, run.options)) ?? doubtful)
  return keys.filter((key) => IN_EVERY_SET.test(key) || held.has(key))
}

/** Every character set contains ASCII. */
const IN_EVERY_SET = /^\p{ASCII}*$/u

/** The text of a key from a column's JSON, for comparing both sides of a join. */
export function keyText(column: string | undefined): string | undefined {
  return column === undefined || column === 'null' ? undefined : String(parseJson(column))
}
