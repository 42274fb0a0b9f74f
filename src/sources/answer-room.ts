/**
 * The bound of an answer that the service puts together from several reads (decision 033): one far row may be part of
 * thousands of items, and is then sent as often.
 */

import { MAX_TEXT } from '../core/sql/answer-bound.ts'
import { databaseError } from '../core/sql/database-error.ts'
import { queryFailed } from './assertion-error.ts'

/** What one request may look up and add to its rows; both throw 422 `1006` beyond. */
export type AnswerRoom = {
  /** Counts a text that was looked up. */
  readonly gather: (text: string) => void
  /** Counts the text of a row, as often as it is added. */
  readonly add: (row: string) => void
}

/** Of rows that were looked up, more may be in memory than are sent. */
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
