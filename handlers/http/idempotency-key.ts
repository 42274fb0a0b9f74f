/** Writes with an idempotency key (docs/contract.md#idempotency). */
import type { Eventual } from '../../src/core/and-then.ts'
import { nested, type ServiceError } from '../../src/core/error.ts'
import type { ItemQuery, OnceKey, Planned } from '../../src/services/data/items.ts'
import type { Answer } from './answer.ts'
import { searchWithoutToken } from './credentials.ts'
import { answered, rawQuery } from './raw-query.ts'
import { type AppContext, headerOf } from './request.ts'

const HEADER = 'Idempotency-Key'

/** Runs a write and answers it; with an idempotency key it runs once, and a retry gets the same answer. */
export function answeredWrite<T>(
  c: AppContext,
  write: (query: ItemQuery) => Eventual<Planned<T>>,
  toAnswer: (value: T) => Answer,
): Eventual<Answer> {
  return answeredOnce(c, (once) => write(once === undefined ? rawQuery(c) : { ...rawQuery(c), once }), toAnswer)
}

/** Like `answeredWrite`, for a write without a query. */
export function answeredOnce<T>(
  c: AppContext,
  write: (once: OnceKey | undefined) => Eventual<Planned<T>>,
  toAnswer: (value: T) => Answer,
): Eventual<Answer> {
  const sent = headerOf(c, 'idempotency-key')
  if (sent === undefined) return answered(c, write(undefined), toAnswer)
  const parts = [c.req.method, c.req.path, searchWithoutToken(c.req.url), headerOf(c, 'if-match') ?? null]
  let isReplay = false
  const onReplay = () => {
    isReplay = true
  }
  const once = { key: keyIn(sent), request: JSON.stringify(parts), onReplay, waited: 0 }
  return answered(c, write(once), (value) => {
    const answer = toAnswer(value)
    return isReplay ? { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' } } : answer
  })
}

export const MOST_CHARACTERS = 255
/** Valid characters of an idempotency key, also in arguments of tools. */
export const CHARACTERS = /^[\x20-\x7e]+$/

/** The text between the quotes, or the whole text if there are none. */
function keyIn(sent: string): string {
  const text = sent.trim()
  const [, quoted, bare] = /^(?:"((?:[^"\\]|\\["\\])*)"|([^"\s,;]+))$/.exec(text) ?? []
  const key = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
  if (!CHARACTERS.test(key)) throw keyFault('must be one text of visible characters, in quotes or without')
  if (key.length > MOST_CHARACTERS) throw keyFault(`must have at most ${MOST_CHARACTERS} characters`)
  return key
}

function keyFault(reason: string): ServiceError {
  return nested('invalid', ['Failed to read the headers', HEADER, reason])
}
