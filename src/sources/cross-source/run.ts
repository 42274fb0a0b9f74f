/** One request over several sources, and the keys by which rows of two of them meet. */
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

/** Maximum rows of one look-up; some search engines return no more of a list. */
export const PAGE = 1_000

export function onlyJoin(relation: RelationField): RelationField['joins'][number] {
  const [join] = relation.joins
  if (join !== undefined && relation.joins.length === 1) return join
  throw queryFault(
    `fields.${relation.apiName}`,
    'has a key of several fields, which cannot be followed into another source',
  )
}

/** The texts by which a column is compared with keys of another source: those that it can hold. */
export async function heldKeys(column: TextColumn, keys: readonly string[], run: Run): Promise<readonly string[]> {
  const doubtful = column.field.type.name === 'string' ? keys.filter((key) => !IN_EVERY_SET.test(key)) : []
  if (doubtful.length === 0) return keys
  const source = run.open(column.collection.sourceId)
  const held = new Set((await source.heldTexts?.(column, doubtful, run.options)) ?? doubtful)
  return keys.filter((key) => IN_EVERY_SET.test(key) || held.has(key))
}

/** Every character set has the letters of ASCII. */
const IN_EVERY_SET = /^\p{ASCII}*$/u

/** The text of the key that the JSON of a column holds, to compare the two sides. */
export function keyText(column: string | undefined): string | undefined {
  return column === undefined || column === 'null' ? undefined : String(parseJson(column))
}
