/**
 * Limits an answer that the service joins from several reads (decision 033): one far row may be part of thousands of items, and
 * is repeated in each.
 */

import { MAX_TEXT } from '../core/sql/answer-bound.ts'
import { databaseError } from '../core/sql/database-error.ts'
import { queryFailed } from './assertion-error.ts'

/** The budget of one request for looking up rows and adding them to its items; above it, both throw 422 `1006`. */
export type AnswerRoom = {
  /** Counts a row that was looked up. */
  readonly gather: (text: string) => void
  /** Counts a row each time it is added to an item. */
  readonly add: (row: string) => void
}

/** More characters may be looked up than sent. */
const MAX_GATHERED = 2 * MAX_TEXT

export function answerRoom(): AnswerRoom {
  let gathered = 0
  let added = 0
  const within = (size: number, most: number) => {
    if (size > most) throw queryFailed(databaseError('tooLarge'))
  }
  return {
    gather(text) {
      gathered += text.length
      within(gathered, MAX_GATHERED)
    },
    add(row) {
      added += row.length
      within(added, MAX_TEXT)
    },
  }
}
