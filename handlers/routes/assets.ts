/** `/api/{workspace}/assets[/{id}]` (docs/contract.md#files): uploads and downloads of files, with the authorization of items. */
import * as z from 'zod'
import { durationSchema } from '../../src/config-values.ts'
import { assetFault, checkFileName, disposition } from '../../src/core/assets/file-name.ts'
import { formBoundary, formParts } from '../../src/core/assets/form-parts.ts'
import { sendingOf } from '../../src/core/assets/media-type.ts'
import { type ByteRange, rangesOf } from '../../src/core/assets/range.ts'
import { Gathered } from '../../src/core/chunks.ts'
import { ServiceError } from '../../src/core/error.ts'
import { lazily } from '../../src/core/lazily.ts'
import { shortName } from '../../src/core/message-text.ts'
import { decodeValue } from '../../src/core/query/brackets.ts'
import { PART_SIZE } from '../../src/ports/files.ts'
import type { FileContent, UploadQuery } from '../../src/services/assets/assets.ts'
import type { SentFile } from '../../src/services/assets/contents.ts'
import { PRESETS, type PresetRequest } from '../../src/services/assets/presets.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, data, dataText, failure, noContent } from '../http/answer.ts'
import { bodyStream, discardBody, readBody, releaseBody } from '../http/body.ts'
import { authorize, identifyItself } from '../http/context.ts'
import { searchWithoutToken } from '../http/credentials.ts'
import { tagsOf, withTag } from '../http/etag.ts'
import { type App, type Handler, mount } from '../http/mount.ts'
import { publicAddress } from '../http/origin.ts'
import { readOptions } from '../http/raw-query.ts'
import { type AppContext, headerOf, isDisconnected, lastSegment, pacing, pathParam } from '../http/request.ts'
import { idOf } from '../http/schemas.ts'
import { readIn } from '../http/sent.ts'
import { requireKnownParameters } from '../http/unexpected-input.ts'

/** Maximum bytes in one piece: a form is held in memory, and an interruption of more bytes loses too much. */
const LARGEST_PIECE = 32 * 1024 ** 2

export function mountAssets(app: App, services: Services): void {
  const { assetFiles } = services
  const { bytes, setting } = assetFiles.limit
  const most = Math.min(bytes, LARGEST_PIECE)
  const advice = bytes <= LARGEST_PIECE ? `, which ${setting} sets` : ': send it in parts, by POST /assets/uploads'
  /** A form is kept in memory as a whole, a file one part at a time. */
  const form = (c: AppContext) => bodyStream(c, most, { advice })
  const file = (c: AppContext) => bodyStream(c, most, { advice, piece: PART_SIZE })
  const key = (c: AppContext) => ({ kind: 'segment', text: lastSegment(c) }) as const

  const enter = (c: AppContext) => enterAssets(services, c)
  const sends = async (c: AppContext) => ({ scope: await enter(c), reenter: () => enter(c) })

  /** Opens a link, which needs no credential. An expired session cookie is ignored, because browsers send it automatically. */
  async function linked(c: AppContext, link: string, preset: PresetRequest | undefined): Promise<FileContent> {
    const credential = c.get('credential')
    if (credential !== undefined && credential.source !== 'cookie') await identifyItself(services, c)
    await services.licensing.admit()
    return assetFiles.linked(pathParam(c, 'workspace'), idOf(c, 'The file'), link, preset)
  }

  mount(
    app,
    '/api/:workspace/assets',
    {
      POST: withUpload(async (c) => {
        const sender = await sends(c)
        const { fileName, query } = uploadQuery(c)
        await assetFiles.admit(sender.scope, 'create', query)
        const boundary = formBoundary(headerOf(c, 'content-type') ?? '')
        if (boundary === undefined) {
          const name = checkFileName(fileName, 'fileName')
          const body = file(c)
          const items = await assetFiles.upload(sender, [{ fileName: name, body }], query)
          return dataText(items.slice(1, -1), { status: 201 })
        }
        if (fileName !== undefined) throw assetFault('fileName', 'is in the form')
        const files = await formFiles(form(c), boundary, services.config.SERVICE_ITEMS__CREATE_LIMIT)
        const items = await assetFiles.upload(sender, files, query)
        return dataText(files.length === 1 ? items.slice(1, -1) : items, { status: 201 })
      }),
    },
    { strictQuery: ['POST'] },
  )

  mount(
    app,
    '/api/:workspace/assets/:id',
    {
      GET: async (c) => {
        requireKnownParameters(c, ['download', 'link', 'preset'])
        const known = tagsOf(c, 'If-None-Match')
        const link = new URL(c.req.url).searchParams.get('link')
        const scope = link === null ? await enter(c) : undefined
        const preset = presetOf(c)
        const content =
          scope === undefined ? await linked(c, link ?? '', preset) : await assetFiles.content(scope, key(c), preset)
        const unchanged = withTag(noContent(), content.hash, known)
        if (unchanged.status === 304) return unchanged
        const answer = await contentAnswer(c, content)
        const shared = { ...answer.headers, 'Cross-Origin-Resource-Policy': 'cross-origin' }
        return withTag(link === null ? answer : { ...answer, headers: shared }, content.hash, undefined)
      },
      PUT: withUpload(async (c) => {
        const sender = await sends(c)
        const { fileName, query } = uploadQuery(c)
        await assetFiles.admit(sender.scope, 'update', query)
        const tags = tagsOf(c, 'If-Match')
        const sent = { fileName: checkFileName(fileName, 'fileName'), body: file(c) }
        const hashes = tags === 'any' ? undefined : tags
        return dataText(await assetFiles.replace(sender, key(c), sent, { ...query, hashes }))
      }),
    },
    { strictQuery: ['GET', 'PUT'], headers: { GET: ['If-None-Match'], PUT: ['If-Match'] } },
  )

  mount(
    app,
    '/api/:workspace/assets/:id/restore',
    {
      POST: async (c) => {
        const query = { sent: searchText(c), ...readOptions(c) }
        const scope = await enter(c)
        await assetFiles.admit(scope, 'create', query)
        return dataText(await assetFiles.restore(scope, idOf(c, 'The file'), query), { status: 201 })
      },
    },
    { strictQuery: ['POST'], bodiless: ['POST'] },
  )

  mount(app, '/api/:workspace/assets/:id/link', {
    POST: async (c) => {
      const [scope, { expiresIn }] = await readIn(
        () => enter(c),
        () => readBody(c, linkBody),
      )
      const id = idOf(c, 'The file')
      const { path, expiresAt } = await assetFiles.link(scope, id, { lifetime: expiresIn, address: app.addressOf(c) })
      return data({ url: publicAddress(c, services.config) + path, expiresAt: new Date(expiresAt).toISOString() })
    },
  })
}

/** Maximum and default lifetime of a link, in milliseconds. */
export const LONGEST_LINK = 3_600_000
export const linkLifetime = () =>
  durationSchema().refine((length) => length > 0 && length <= LONGEST_LINK, 'must be positive and at most 1h')
export const linkBody = lazily(() => z.strictObject({ expiresIn: linkLifetime().default(LONGEST_LINK) }))

/** Authorizes the caller; throws 402 while the license is locked. */
export async function enterAssets(services: Services, c: AppContext): Promise<RequestScope> {
  const scope = await authorize(services, c)
  await services.licensing.admit(scope.snapshot.licenseVersion)
  return scope
}

/** Reads the rest of a refused body, so that the client sees the answer; the body counts until then. */
export function withUpload(work: Handler): Handler {
  return async (c) => {
    try {
      return await work(c)
    } catch (error) {
      await discardBody(c)
      throw error
    } finally {
      releaseBody(c)
    }
  }
}

/** The query string without the token and the question mark. */
export function searchText(c: AppContext): string {
  return searchWithoutToken(c.req.url).replace(/^\?/, '')
}

/** The name of the file, and the rest of the query. */
function uploadQuery(c: AppContext): { readonly fileName: string | undefined; readonly query: UploadQuery } {
  const sent = searchText(c).split('&')
  const isName = (parameter: string) => /^fileName(=|$)/.test(parameter)
  const [name, ...others] = sent.filter(isName).map((parameter) => parameter.slice('fileName='.length))
  if (others.length > 0) throw assetFault('fileName', 'is given twice')
  const rest = sent.filter((parameter) => parameter !== '' && !isName(parameter))
  const fileName = name === undefined ? undefined : decodeValue(name, 'fileName')
  return { fileName, query: { sent: rest.join('&'), ...readOptions(c) } }
}

function presetOf(c: AppContext): PresetRequest | undefined {
  const sent = new URL(c.req.url).searchParams.get('preset')
  if (sent === null) return undefined
  const side = PRESETS.find((each) => `${each}` === sent)
  if (side !== undefined) return { side, isDisconnected: () => isDisconnected(c) }
  throw assetFault('preset', `must be one of ${PRESETS.join(', ')}`)
}

async function formFiles(
  body: ReadableStream<Uint8Array>,
  boundary: string,
  most: number,
): Promise<readonly SentFile[]> {
  const form = new Gathered(most)
  for await (const chunk of body) form.add(chunk)
  const parts = formParts(form.bytes, boundary, most)
  if (parts.length === 0) throw assetFault('body', 'has no file')
  return parts.map(({ name, fileName, bytes }, index) => {
    const place = name === '' ? `part ${index + 1}` : shortName(name)
    if (fileName === undefined) throw assetFault(place, 'is not a file')
    return { fileName: checkFileName(fileName, place), body: [bytes] }
  })
}

/** The whole file, or its requested ranges. */
async function contentAnswer(c: AppContext, content: FileContent): Promise<Answer> {
  const { fileName, size, mediaType, hash } = content
  const sending = sendingOf(mediaType)
  const isDownload = new URL(c.req.url).searchParams.has('download')
  const headers = {
    'Accept-Ranges': 'bytes',
    'Content-Disposition': disposition(isDownload ? 'attachment' : sending.disposition, fileName),
    // Prevents scripts in the file from running, whatever its type and however it is opened.
    'Content-Security-Policy': "default-src 'none'; sandbox",
  }
  const isHead = c.req.method === 'HEAD'
  const whole = async (): Promise<Answer> => ({
    status: 200,
    body: isHead || size === 0 ? null : await bodyOf(c, content, { first: 0, last: size - 1 }),
    headers: { ...headers, 'Content-Type': sending.contentType, 'Content-Length': String(size) },
  })
  if (isHead || !isOfTag(headerOf(c, 'if-range'), hash)) return whole()
  const ranges = rangesOf(headerOf(c, 'range'), size)
  if (ranges === undefined) return whole()
  if (ranges === 'unsatisfiable') {
    const refused = failure(new ServiceError('rangeNotSatisfiable', `The file has ${size} bytes`))
    return { ...refused, headers: { 'Content-Range': `bytes */${size}` } }
  }
  const { contentType } = sending
  const [only, ...others] = ranges
  if (only === undefined || others.length > 0) return manyRanges(c, { ranges, content, headers, contentType })
  const range = { 'Content-Range': rangeText(only, size), 'Content-Length': String(lengthOf(only)) }
  return {
    status: 206,
    body: await bodyOf(c, content, only),
    headers: { ...headers, 'Content-Type': contentType, ...range },
  }
}

/** Several ranges in one body, each with its position and type (RFC 9110, section 15.3.7.2). */
async function manyRanges(
  c: AppContext,
  wanted: {
    readonly ranges: readonly ByteRange[]
    readonly content: FileContent
    readonly headers: Answer['headers']
    readonly contentType: string
  },
): Promise<Answer> {
  const { ranges, headers, contentType } = wanted
  const { size, hash, read } = wanted.content
  const encoder = new TextEncoder()
  // The file cannot contain the boundary, which is made of the file's hash.
  const boundary = hash.replaceAll(/[^\w]/g, '')
  const heads = ranges.map((range) =>
    encoder.encode(
      `\r\n--${boundary}\r\nContent-Type: ${contentType}\r\nContent-Range: ${rangeText(range, size)}\r\n\r\n`,
    ),
  )
  const end = encoder.encode(`\r\n--${boundary}--\r\n`)
  const length = sum(heads.map((head) => head.length)) + end.length + sum(ranges.map(lengthOf))
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const [index, range] of ranges.entries()) {
      let head = heads[index]
      for await (const piece of read(range)) {
        if (head !== undefined) yield head
        head = undefined
        yield piece
      }
    }
    yield end
  }
  return {
    status: 206,
    body: await streamOf(c, pieces()),
    headers: {
      ...headers,
      'Content-Type': `multipart/byteranges; boundary=${boundary}`,
      'Content-Length': String(length),
    },
  }
}

/** Up to this many bytes are sent at once, because a stream would cost more. */
const AT_ONCE = 64 * 1024

async function bodyOf(c: AppContext, { read }: FileContent, range: ByteRange): Promise<NonNullable<Answer['body']>> {
  const length = lengthOf(range)
  if (length > AT_ONCE) return streamOf(c, read(range))
  const bytes = new Uint8Array(length)
  let at = 0
  for await (const piece of read(range)) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** Reads the next piece while one is sent. Throws the error of the first piece; after that the answer can only break off. */
async function streamOf(c: AppContext, pieces: AsyncGenerator<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  async function next() {
    await pacing(c)?.beforePiece()
    return pieces.next()
  }
  const first = await next()
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (!first.done) controller.enqueue(first.value)
      },
      async pull(controller) {
        const { done, value } = await next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function lengthOf({ first, last }: ByteRange): number {
  return last - first + 1
}

function rangeText({ first, last }: ByteRange, size: number): string {
  return `bytes ${first}-${last}/${size}`
}

/** True if `If-Range` is absent or has the tag of the file; a date never matches, because files have no date. */
function isOfTag(header: string | undefined, hash: string): boolean {
  return header === undefined || header.trim() === `"${hash}"`
}
