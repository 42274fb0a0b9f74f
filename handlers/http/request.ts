/** The context of a request that middleware passes to handlers, and readers for its parts. */
import type { Context } from 'hono'
import { ServiceError } from '../../src/core/error.ts'
import { networkOf } from '../../src/core/network.ts'
import type { BodyRoom } from './body-room.ts'
import type { Timing } from './timing.ts'

export type Variables = {
  /** The single credential that was presented; undefined for the anonymous caller. */
  readonly credential: Credential | undefined
  /** Set if a handler identified the caller and no credential was presented. */
  readonly isAnonymous: true | undefined
  /** The id of the user, or of a service account's owner, once a handler has identified the caller. */
  readonly userId: string | undefined
  /** Set once the caller was authorized in a workspace; throws 404 if the workspace has been deleted meanwhile. */
  readonly requireThere: (() => Promise<void>) | undefined
  /** The account whose slots the request takes, once a handler has identified the caller. */
  readonly account: string | undefined
  /** Set once the body was read. */
  readonly isBodyRead: true | undefined
  /** Ends the slot of the request, and releases the room of its parsed body. */
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

/** The last segment of the path, still percent-encoded: commas and quotes within a part of a key stay encoded. */
export function lastSegment(c: AppContext): string {
  const { path } = c.req
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Like `lastSegment`, for the segment before. */
export function segmentBeforeLast(c: AppContext): string {
  const { path } = c.req
  const end = path.lastIndexOf('/')
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}

/** Returns true if the client has disconnected; false if the platform cannot know. */
export function isDisconnected(c: Context): boolean {
  return ((c.env ?? {}) as { readonly isDisconnected?: () => boolean }).isDisconnected?.() === true
}

/** Memory for answers that clients have not read yet; provided by the platform in `env`. */
export type AnswerRoom = {
  /** Counts `bytes` for the answer to the request, replacing an earlier count. Returns false if the answer has no room. */
  hold(bytes: number): boolean
  /** Drops the oldest unread answers until the answer to this request has room. */
  makeRoom(): void
}

/** Returns undefined if the platform limits memory itself. */
export function answerRoom(c: Context): AnswerRoom | undefined {
  return ((c.env ?? {}) as { readonly room?: AnswerRoom }).room
}

/** Limits of concurrent work, provided by the platform in `env`; undefined if it has its own limits. */
export type Pacing = {
  /** Takes a slot and returns what ends it; undefined if none is free for the collection, which may be ''. */
  takeNow(account: string, collection: string): (() => void) | undefined
  /** Waits for a slot. Rejects after waiting too long, if too many wait, or if the client `hasLeft`. */
  take(account: string, collection: string, hasLeft: () => boolean): Promise<() => void>
  /** Waits until a long answer of the caller may be encoded, and returns the function that ends the encoding. */
  takeEncoding(caller: string): Promise<() => void>
  /** Returns the promise to await before reading the next piece of a file, if any. */
  beforePiece(): Promise<void> | undefined
}

export function pacing(c: Context): Pacing | undefined {
  return ((c.env ?? {}) as { readonly pacing?: Pacing }).pacing
}

/** Returns undefined if nothing limits the memory of arriving bodies. */
export function bodyRoom(c: Context): BodyRoom | undefined {
  return ((c.env ?? {}) as { readonly bodies?: BodyRoom }).bodies
}

/** The memory for parsed bodies; undefined if nothing limits it. */
export function parsedRoom(c: Context): BodyRoom | undefined {
  return ((c.env ?? {}) as { readonly parsed?: BodyRoom }).parsed
}

/** The body as a stream, the same stream each time; null without a body. */
export function bodyOf(c: Context): ReadableStream<Uint8Array> | null {
  const { body } = (c.env ?? {}) as { readonly body?: () => ReadableStream<Uint8Array> }
  return body === undefined ? c.req.raw.body : body()
}

/** Returns the key by which a caller's bodies are counted: its user, or its network. */
export function callerOf(c: AppContext): string {
  return c.get('userId') ?? networkOf(c.get('addressOf')(c))
}

/**
 * Returns a request header by its lower-case name; repeated headers are joined. Uses the look-up in `env` if the platform
 * provides one: building `Headers` for two look-ups costs as much as the rest of the handler.
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
