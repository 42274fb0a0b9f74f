/** The context of a request that middleware passes to handlers, and readers for its parts. */
import type { Context } from 'hono'
import { ServiceError } from '../../src/core/error.ts'
import { networkOf } from '../../src/core/network.ts'
import type { BodyRoom } from './body-room.ts'
import type { Timing } from './timing.ts'

export type Variables = {
  /** The single credential that was presented; undefined for the anonymous caller. */
  readonly credential: Credential | undefined
  /** Set where a handler asked who the caller is and no credential was presented. */
  readonly isAnonymous: true | undefined
  /** The id of the user, or of the owner of a service account, where a handler asked who the caller is and knows one. */
  readonly userId: string | undefined
  /** Set where the caller was authorized in a workspace; throws 404 where that has been deleted meanwhile. */
  readonly requireThere: (() => Promise<void>) | undefined
  /** Whose slots the request takes, where a handler asked who the caller is. */
  readonly account: string | undefined
  /** Set where the body was read. */
  readonly isBodyRead: true | undefined
  /** Ends the slot of a request that has one, and gives back the room of its parsed body. */
  readonly endSlot: (() => void) | undefined
  readonly timing: Timing
  /** Returns the client's IP address. */
  readonly addressOf: (c: AppContext) => string | undefined
}

export type AppContext = Context<{ Variables: Variables }>

/**
 * Returns a decoded path parameter. Throws 404 for text that no database can hold, so that nothing can have this name.
 */
export function pathParam(c: AppContext, name: string): string {
  const part = c.req.param(name) ?? ''
  if (part.includes('\0') || !part.isWellFormed()) {
    throw new ServiceError('notFound', 'Not found')
  }
  return part
}

/** The last segment of the path, as it was sent where that matters: commas and quotes of a part stay percent-encoded. */
export function lastSegment(c: AppContext): string {
  const { path } = c.req
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The same of the segment before the last. */
export function segmentBeforeLast(c: AppContext): string {
  const { path } = c.req
  const end = path.lastIndexOf('/')
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}

/** Returns true if the client has disconnected; false where the platform cannot know. */
export function isDisconnected(c: Context): boolean {
  return ((c.env ?? {}) as { readonly isDisconnected?: () => boolean }).isDisconnected?.() === true
}

/** What the platform tells in `env` of the memory for answers that their clients have not taken yet. */
export type AnswerRoom = {
  /**
   * Counts the answer to the request with `bytes`, in place of what it was counted with before. Returns false where others
   * hold so much that it has no room.
   */
  hold(bytes: number): boolean
  /** Cuts off the answers that have been held for longest, until that of the request has room. */
  makeRoom(): void
}

/** Returns undefined where the platform bounds memory itself. */
export function answerRoom(c: Context): AnswerRoom | undefined {
  return ((c.env ?? {}) as { readonly room?: AnswerRoom }).room
}

/** What the platform tells in `env` of what goes on at a time; undefined where it bounds that itself. */
export type Pacing = {
  /** Returns what ends the slot of a request, or undefined where none of the account is free for the collection; '' is for none. */
  takeNow(account: string, collection: string): (() => void) | undefined
  /** Waits for it. Rejects where none became free in time, too many wait, or the client `hasLeft`. */
  take(account: string, collection: string, hasLeft: () => boolean): Promise<() => void>
  /** Waits until a long answer of the caller may be encoded, and returns what ends that. */
  takeEncoding(caller: string): Promise<() => void>
  /** Returns what the next piece of a file that is sent waits for before it is read, if anything. */
  beforePiece(): Promise<void> | undefined
}

export function pacing(c: Context): Pacing | undefined {
  return ((c.env ?? {}) as { readonly pacing?: Pacing }).pacing
}

/** Returns undefined where nothing bounds the memory of bodies that arrive. */
export function bodyRoom(c: Context): BodyRoom | undefined {
  return ((c.env ?? {}) as { readonly bodies?: BodyRoom }).bodies
}

/** The memory for bodies that are parsed; undefined where nothing bounds it. */
export function parsedRoom(c: Context): BodyRoom | undefined {
  return ((c.env ?? {}) as { readonly parsed?: BodyRoom }).parsed
}

/** The body as it arrives, each time the same stream; null where there is none. */
export function bodyOf(c: Context): ReadableStream<Uint8Array> | null {
  const { body } = (c.env ?? {}) as { readonly body?: () => ReadableStream<Uint8Array> }
  return body === undefined ? c.req.raw.body : body()
}

/** Returns by what the bodies of one caller are known: its user, or its network. */
export function callerOf(c: AppContext): string {
  return c.get('userId') ?? networkOf(c.get('addressOf')(c))
}

/**
 * Returns a request header by its lower-case name; several of one name are joined. Uses the look-up in `env` if the
 * platform provides one: building `Headers` for two look-ups costs as much as the rest of the handler.
 */
export function headerOf(c: Context, name: string): string | undefined {
  const { header } = (c.env ?? {}) as { readonly header?: (name: string) => string | undefined }
  return typeof header === 'function' ? header(name) : c.req.header(name)
}

export function hasBody(c: AppContext): boolean {
  const length = headerOf(c, 'content-length')
  return length === undefined ? headerOf(c, 'transfer-encoding') !== undefined : length !== '0'
}

/** A token and its location. A browser sends cookies by itself, so they prove less (origin.ts). */
export type Credential = { readonly source: 'header' | 'query' | 'cookie'; readonly token: string }
