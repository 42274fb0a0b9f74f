/** The client of a governed data service: calls, credentials, results, and their types. */
export type { Account, User } from './account.ts'
export {
  type Auth,
  type AuthAsk,
  apiKey,
  cookie,
  type SessionAuth,
  session,
  type TokenStorage,
  type Tokens,
} from './auth.ts'
export type { Call, Data, Result } from './call.ts'
export { type Client, createClient, type RequestOptions } from './client.ts'
export type { Collection, Which } from './collection.ts'
export { ServiceError } from './error.ts'
export { compareDecimals, toBigInt } from './numbers.ts'
export type { Fields, Filter, ItemQuery, Key, ListQuery, Sort } from './queries.ts'
export type { Row } from './rows.ts'
export type { ClientOptions, HeadersLike, Options } from './send.ts'
export type { Create, Update, UpdateMany } from './writes.ts'
