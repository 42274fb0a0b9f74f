/** Reads request bodies: limited while reading, JSON only, parsed by a schema. Faults name their path. */
import type * as z from 'zod'
import type { Config } from '../../src/config.ts'
import { Gathered, release } from '../../src/core/chunks.ts'
import { codedError, nested, ServiceError } from '../../src/core/error.ts'
import { faultOfJson, parseExactJson, rawNumbers } from '../../src/core/exact-json.ts'
import { bodyBounds, hasPrototypeMember, oversizedJson, weightOfJson } from '../../src/core/json-limits.ts'
import { knownMembers, notOneOf, unknownMember } from '../../src/core/known-members.ts'
import { issuePath } from '../../src/core/message-text.ts'
import { keptNumbers } from '../../src/core/model/codec/number.ts'
import { pause } from '../../src/ports/clock.ts'
import type { ArrivingBody, BodyRoom } from './body-room.ts'
import { type AppContext, bodyOf, bodyRoom, callerOf, headerOf, isDisconnected, parsedRoom } from './request.ts'
import { slotForBody } from './request-slots.ts'

/** Limit of all bodies except those of items and migrations, which have their own limits. */
const SMALL_BODY = 64 * 1024

/** True for a body that is so small that it needs no limits. */
export function isSmall(c: AppContext): boolean {
  return Number(headerOf(c, 'content-length') ?? Number.POSITIVE_INFINITY) <= SMALL_BODY
}

/** Weight up to which bodies are parsed without limit. */
const LIGHT = 256 * 1024
/** Weight per millisecond of pause before a body is parsed; parsing that weight takes about four milliseconds. */
const WEIGHT_OF_MILLISECOND = 2_000_000

const UNREADABLE = 'Failed to read the JSON body'

/** Parses the body by `schema`. Throws 413, 415, or 422 with the path and the reason. */
export async function readBody<S extends z.ZodType>(
  c: AppContext,
  schema: () => S,
  limit = SMALL_BODY,
): Promise<z.infer<S>> {
  const result = schema().safeParse(parsePlainJson(await readText(c, limit)), { reportInput: true })
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = issue === undefined ? '' : issuePath(issue.path)
  const reason = reasonOf(issue, schema())
  throw unreadable(path, reason)
}

function reasonOf(issue: z.core.$ZodIssue | undefined, schema: z.ZodType): string {
  if (issue?.code === 'unrecognized_keys') return unknownMember(schema, issue)
  if (issue?.code === 'invalid_value') return issue.input === undefined ? 'must be given' : notOneOf(issue.values)
  if (issue?.code === 'invalid_type') {
    if (issue.input === undefined) return 'must be given'
    const members = issue.expected === 'object' ? knownMembers(schema, issue.path) : []
    return `must be of type ${issue.expected}${members.length === 0 ? '' : `, of ${members.join(', ')}`}`
  }
  return issue?.message ?? 'is wrong'
}

/** Reads JSON; numbers keep their text. */
export function readJson(c: AppContext, limit: number): Promise<unknown> {
  return readText(c, limit).then((text) => parseBody(text, exactly))
}

/** Like `readJson`, but refuses a member `__proto__` at any depth, and checks `bounds` before parsing. */
export function readPlainJson(c: AppContext, limit: number, bounds = bodyBounds): Promise<unknown> {
  return readText(c, limit).then((text) => parsePlainJson(text, exactly, bounds))
}

function exactly(text: string): unknown {
  return parseExactJson(text, rawNumbers())
}

/** Schemas silently skip a member `__proto__`, so it is refused here. */
function parsePlainJson(text: string, parse?: (text: string) => unknown, bounds = bodyBounds): unknown {
  const value = parseBody(text, parse, bounds)
  if (hasPrototypeMember(text, value)) throw nested('invalid', [UNREADABLE, 'unknown field __proto__'])
  return value
}

/** Converts numbers to JavaScript numbers, for settings and conditions. */
function plainly(text: string): unknown {
  return keptNumbers(exactly(text), (path, reason) => unreadable(issuePath(path), reason))
}

function unreadable(path: string, reason: string): ServiceError {
  return nested('invalid', path === '' ? [UNREADABLE, reason] : [UNREADABLE, path, reason])
}

function parseBody(text: string, parse: (text: string) => unknown = plainly, bounds = bodyBounds): unknown {
  const excess = oversizedJson(text, bounds)
  if (excess !== undefined) throw nested('invalid', [UNREADABLE, excess])
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw nested('invalid', [UNREADABLE, text === '' ? 'is empty' : faultOfJson(text, error)])
  }
}

/** Reads the body as text of at most `limit` bytes, counted as they arrive; the 413 names `setting`, which sets it. */
export async function readText(c: AppContext, limit: number, setting?: keyof Config): Promise<string> {
  const type = headerOf(c, 'content-type') ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new ServiceError('unsupportedMediaType', 'The body must be application/json')
  }
  const advice = setting === undefined ? '' : `, which ${setting} sets`
  const announced = announcedLength(c, limit, advice)
  const room = bodyRoom(c)
  // At most the announced length can arrive, so nothing needs counting.
  if (announced !== undefined && (room === undefined || Number(announced) <= SMALL_BODY)) {
    const bytes = new Uint8Array(await arriving(c.req.raw.arrayBuffer()))
    await turnOf(c, bytes)
    return decodeUtf8(bytes)
  }
  const body = bodyOf(c)
  if (body === null) return ''
  const total = Number(announced ?? limit)
  const held = { gathered: new Gathered(total), bytes: 0, total, isGivenUp: false, caller: callerOf(c) }
  const bounds = {
    room,
    body: held,
    excess: () => tooLarge(limit, advice),
    behind: (bytes: Uint8Array) => turnOf(c, bytes),
  }
  return decodeUtf8(await arrived(body.getReader() as BodyReader, limit, bounds))
}

/** Waits until a received body may be parsed, which takes many times its bytes of memory. Throws 429, 499 and 503. */
async function turnOf(c: AppContext, bytes: Uint8Array): Promise<void> {
  await slotForBody(c)
  const room = parsedRoom(c)
  if (room === undefined) return
  const weight = weightOfJson(bytes)
  if (weight <= LIGHT) return
  const held: ArrivingBody = { bytes: weight, isGivenUp: false, isComplete: true, caller: callerOf(c) }
  if (!(await room.enter(held))) throw noRoom()
  const end = c.get('endSlot')
  c.set('endSlot', () => {
    room.release(held)
    end?.()
  })
  // Other requests run during the pause.
  await pause(weight / WEIGHT_OF_MILLISECOND)
  if (isDisconnected(c)) throw new ServiceError('abandoned', 'The client has disconnected')
}

/** Returns `Content-Length`. Throws 415 for a compressed body, whose size would be counted wrongly, and 413. */
function announcedLength(c: AppContext, limit: number, advice: string): string | undefined {
  const encoding = headerOf(c, 'content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new ServiceError('unsupportedMediaType', 'The body must not be compressed')
  }
  const announced = headerOf(c, 'content-length')
  if (Number(announced ?? 0) > limit) throw tooLarge(limit, advice)
  return announced
}

/**
 * Streams the body, whatever its type; the reader keeps at most `piece` bytes of it until `releaseBody`. The memory of each
 * chunk is reused at the next read, so readers must copy what they keep. Waits for room. Fails with 413 and `advice` above
 * `limit` bytes, 415 for a compressed body, 499 if the client has disconnected, and 503 if there is no room or the body is too
 * slow while others wait.
 */
export function bodyStream(
  c: AppContext,
  limit: number,
  { advice = '', piece = limit } = {},
): ReadableStream<Uint8Array> {
  const reader = (bodyOf(c) ?? new Blob().stream()).getReader() as BodyReader
  const room = bodyRoom(c)
  const held: ArrivingBody = { bytes: 0, arrived: 0, isGivenUp: false, caller: callerOf(c) }
  const pieces = piecesOf(reader, () => held.isGivenUp)
  const count = inSteps(() => room?.touch(held))
  streamed.set(c.req.raw, { held, pieces })
  let bytes: number | undefined
  let last: Uint8Array = new Uint8Array()
  async function begin(): Promise<number> {
    const announced = announcedLength(c, limit, advice)
    held.bytes = Math.min(piece, Number(announced ?? limit))
    if ((await room?.enter(held)) === false) throw noRoom()
    return 0
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          release(last)
          bytes ??= await begin()
          const { done, value } = await nextOf(pieces, held)
          held.isComplete = done
          if (done) {
            pieces.end()
            // The work that follows takes a slot, as with other bodies.
            await slotForBody(c)
            return controller.close()
          }
          bytes += value.byteLength
          if (bytes > limit) throw tooLarge(limit, advice)
          held.arrived = bytes
          count(bytes)
          last = value
          controller.enqueue(value)
        } catch (error) {
          pieces.end()
          await discard(reader).catch(() => {})
          throw error
        }
      },
      async cancel() {
        pieces.end()
        await discard(reader).catch(() => {})
      },
    },
    { highWaterMark: 0 },
  )
}

const streamed = new WeakMap<Request, { readonly held: ArrivingBody; readonly pieces: Pieces }>()

/** Stops counting a streamed body. */
export function releaseBody(c: AppContext): void {
  const body = streamed.get(c.req.raw)
  if (body === undefined) return
  body.pieces.end()
  bodyRoom(c)?.release(body.held)
}

/** Discards the rest of an unread body, for the reason given at `discard`. */
export async function discardBody(c: AppContext): Promise<void> {
  const body = bodyOf(c)
  if (body === null || body.locked) return
  await discard(body.getReader() as BodyReader).catch(() => {})
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>
type Bounds = {
  readonly room: BodyRoom | undefined
  readonly body: ArrivingBody & { readonly gathered: Gathered }
  readonly excess: () => ServiceError
  /** Called with the complete body while it still counts, to wait before it is used. */
  readonly behind: (bytes: Uint8Array) => Promise<void>
}

/** Throws `excess` above `limit` bytes, and 503 if the body was given up for others. */
async function arrived(reader: BodyReader, limit: number, { room, body, excess, behind }: Bounds): Promise<Uint8Array> {
  const pieces = piecesOf(reader, () => body.isGivenUp)
  const count = inSteps(() => room?.hold(body))
  try {
    for (let part = await nextOf(pieces, body); !part.done; part = await nextOf(pieces, body)) {
      body.bytes += part.value.byteLength
      if (body.bytes > limit) throw excess()
      body.gathered.add(part.value)
      count(body.bytes)
    }
    body.isComplete = true
    const { bytes } = body.gathered
    await behind(bytes)
    return bytes
  } catch (error) {
    body.gathered.clear()
    room?.release(body)
    await discard(reader).catch(() => {})
    throw error
  } finally {
    pieces.end()
    room?.release(body)
  }
}

/** Bytes of a body that arrive before it is counted again. */
const STEP = 4096

/** Calls `count` at the first bytes, and again after each step. */
function inSteps(count: () => void): (bytes: number) => void {
  let counted = 0
  return (bytes) => {
    if (counted > 0 && bytes - counted < STEP) return
    counted = bytes
    count()
  }
}

/** Milliseconds between two checks whether the body was given up. */
const LOOK = 500

/** A body may have this many pieces of any size; with more pieces they must have this many bytes on average. */
const [MANY_PIECES, SMALLEST_PIECE] = [1_000, 8]

type Piece = Awaited<ReturnType<BodyReader['read']>>
type Pieces = { readonly next: () => Promise<Piece | undefined>; readonly end: () => void }

/** Pieces as they arrive; undefined once `isOver`, even if nothing arrives. One timer checks, since each costs much. */
function piecesOf(reader: BodyReader, isOver: () => boolean): Pieces {
  let stop = (_: undefined) => {}
  let looking: ReturnType<typeof setInterval> | undefined
  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (isOver()) return resolve(undefined)
        looking ??= setInterval(() => isOver() && stop(undefined), LOOK)
        stop = resolve
        reader.read().then((piece) => resolve(isOver() ? undefined : piece), reject)
      }),
    end: () => clearInterval(looking),
  }
}

/** Throws 503 for a body that was given up, and 413 for one in too many pieces. */
async function nextOf(pieces: Pieces, body: ArrivingBody): Promise<Piece> {
  body.pieces = (body.pieces ?? 0) + 1
  const isCrumbled = body.pieces > MANY_PIECES && (body.arrived ?? body.bytes) < body.pieces * SMALLEST_PIECE
  if (isCrumbled) throw new ServiceError('tooLarge', `The body arrives in pieces of less than ${SMALLEST_PIECE} bytes`)
  const piece = await arriving(pieces.next())
  if (piece === undefined) throw noRoom()
  return piece
}

/** Seconds for `Retry-After`. */
const ROOM_AFTER = 1

function noRoom(): ServiceError {
  return codedError('5008', { meta: { retryAfter: ROOM_AFTER } })
}

/** A failed read means that the client has disconnected. */
function arriving<T>(part: Promise<T>): Promise<T> {
  return part.catch((cause: unknown) => {
    throw new ServiceError('abandoned', 'The request body was not received completely', { cause })
  })
}

/**
 * Reads the rest of a body, because a client that is still sending takes an early end for a broken connection and never sees
 * the error. Stops if nothing arrives.
 */
async function discard(reader: BodyReader): Promise<void> {
  const until = performance.now() + LONGEST_DISCARD
  let last = performance.now()
  const pieces = piecesOf(reader, () => performance.now() - last > SILENCE)
  let [length, count] = [0, 0]
  try {
    for (let part = await pieces.next(); part !== undefined && !part.done; part = await pieces.next()) {
      last = performance.now()
      length += part.value.byteLength
      count += 1
      const isCrumbled = count > MANY_PIECES && length < count * SMALLEST_DISCARDED
      if (isCrumbled || length > MAX_DISCARDED || last > until) break
    }
  } finally {
    pieces.end()
  }
  reader.releaseLock()
}

const MAX_DISCARDED = 64 * 1024 * 1024
const LONGEST_DISCARD = 30_000
/** Minimum bytes of a piece on average, after MANY_PIECES. */
const SMALLEST_DISCARDED = 1024
const SILENCE = 2_000

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw nested('invalid', [UNREADABLE, 'is not UTF-8'])
  }
}

function tooLarge(limit: number, advice: string): ServiceError {
  return new ServiceError('tooLarge', `The body is larger than ${limit} bytes${advice}`)
}
