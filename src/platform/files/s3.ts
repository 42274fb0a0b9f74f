/**
 * Files in a bucket that speaks S3, an object for each part, on both platforms. Parts are objects of ours and no multipart
 * upload: what is there can be asked, read and resumed alike in every store, and nothing unfinished stays hidden (decision
 * 115). Requests go to the operator's own address, so that private hosts are allowed; redirects are not followed.
 */
import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { withoutTrailing } from '../../core/trailing.ts'
import { pause } from '../../ports/clock.ts'
import type { FilePart } from '../../ports/files.ts'
import { type Fetch, readBounded } from '../fetch.ts'
import type { PartStore } from './checked.ts'

export type S3Options = {
  /** Its path comes before the bucket's name. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Milliseconds that an answer may take to begin, or, but for the bytes of a part, to end; by default a minute. */
  readonly timeLimit?: number
  /** The platform's `fetch` where absent. */
  readonly wayOut?: Fetch
}

type S3Request = {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path?: string
  readonly query?: Record<string, string>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Of any request, each of which may be sent twice. */
const ATTEMPTS = 3
/** Milliseconds before the second attempt; the next pause is twice as long. */
const PAUSE = 250
/** Bytes of XML; a page of 1,000 keys has about 400 KiB. */
const MAX_XML = 4 * 1024 ** 2

export function openS3(options: S3Options): PartStore {
  const { endpoint, bucket, timeLimit = 60_000, wayOut = fetch, ...keys } = options
  const base = `${withoutTrailing(endpoint, '/')}/${encodeURIComponent(bucket)}`
  const cache = new Map<string, ArrayBuffer>()

  async function signed({ method, path = '', query, headers, body }: S3Request) {
    const url = `${base}${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`
    // The server compares it with what arrives.
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const unsigned = { ...headers, 'X-Amz-Content-Sha256': digest }
    const request = await new AwsV4Signer({ ...keys, cache, service: 's3', url, method, headers: unsigned }).sign()
    // Behind the signature, since proxies rewrite it.
    request.headers.set('Accept-Encoding', 'identity')
    return { ...request, body: body ?? null }
  }

  /** Sends a request until it is answered, and returns what `take` makes of the answer, within the time limit. */
  async function ask<T>(s3Request: S3Request, take: (response: Response) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const ending = new AbortController()
      const timer = setTimeout(() => ending.abort(new Error(`no answer in ${timeLimit} ms`)), timeLimit)
      try {
        const { url, ...request } = await signed(s3Request)
        const response = await wayOut(url.href, {
          ...(request as RequestInit),
          redirect: 'manual',
          signal: ending.signal,
        })
        if (!isPassing(response.status) || attempt === ATTEMPTS) return await take(response)
        await response.body?.cancel()
      } catch (cause) {
        if (cause instanceof Refusal || ending.signal.aborted || attempt === ATTEMPTS) throw cause
      } finally {
        clearTimeout(timer)
      }
      await pause(PAUSE * 2 ** (attempt - 1))
    }
  }

  async function* listed(key: string): AsyncGenerator<readonly Listed[]> {
    let next: string | undefined
    do {
      const query = { 'list-type': '2', prefix: `${key}/`, ...(next !== undefined && { 'continuation-token': next }) }
      const xml = await ask({ method: 'GET', query }, textOf)
      yield xml
        .split('<Contents>')
        .slice(1)
        .map((content) => ({ name: elementOf(content, 'Key') ?? '', size: Number(elementOf(content, 'Size')) }))
      next = elementOf(xml, 'IsTruncated') === 'true' ? decoded(elementOf(xml, 'NextContinuationToken')) : undefined
    } while (next !== undefined)
  }

  /** Names are as the list has them, escaped; at most 1,000, the length of its pages. */
  async function remove(names: readonly string[]): Promise<void> {
    const objects = names.map((name) => `<Object><Key>${name}</Key></Object>`).join('')
    const body = new TextEncoder().encode(
      `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`,
    )
    const headers = {
      'Content-Type': 'application/xml',
      'Content-MD5': createHash('md5').update(body).digest('base64'),
    }
    const xml = await ask({ method: 'POST', query: { delete: '' }, headers, body }, textOf)
    if (xml.includes('<Error>')) throw new Refusal(`an object was not deleted: ${elementOf(xml, 'Code')}`)
  }

  return {
    async put(key, number, body) {
      await ask({ method: 'PUT', path: `/${key}/${number}`, body }, textOf)
    },

    read(key, number, offset, length) {
      const range = `${offset}-${offset + length - 1}`
      const headers = { Range: `bytes=${range}` }
      return ask({ method: 'GET', path: `/${key}/${number}`, headers }, async (response) => {
        if (response.status === 206) {
          // Of what ends before, the server sends what there is.
          if (response.headers.get('Content-Range')?.startsWith(`bytes ${range}/`)) return response.body ?? undefined
          await response.body?.cancel()
          return undefined
        }
        const code = await refusedWith(response)
        if (code === 'NoSuchKey' || code === 'InvalidRange') return undefined
        throw new Refusal(`status ${response.status} ${code} for a range`)
      })
    },

    async parts(key) {
      const found: FilePart[] = []
      for await (const page of listed(key)) {
        for (const { name, size } of page) {
          const number = Number(name.slice(key.length + 1))
          if (!Number.isSafeInteger(number) || !Number.isSafeInteger(size)) throw new Refusal('the list names no part')
          found.push({ number, size })
        }
      }
      return found
    },

    async clear(key) {
      for await (const page of listed(key)) if (page.length > 0) await remove(page.map(({ name }) => name))
    },
  }
}

type Listed = { readonly name: string; readonly size: number }

/** An answer that asking again does not change. */
class Refusal extends Error {}

/** Throttled, or a fault of the server. */
function isPassing(status: number): boolean {
  return status === 429 || status >= 500
}

async function textOf(response: Response): Promise<string> {
  if (!response.ok) throw new Refusal(`status ${response.status} ${await refusedWith(response)}`)
  const text = await (await readBounded(response, MAX_XML))?.text()
  if (text === undefined) throw new Refusal('an answer is too large')
  return text
}

/** The code in the XML of an error; empty where it has none. */
async function refusedWith(response: Response): Promise<string> {
  const text = await (await readBounded(response, MAX_XML))?.text()
  return elementOf(text ?? '', 'Code') ?? ''
}

/** The escaped text of the first element with this name, which has no elements inside. */
function elementOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decoded(text: string | undefined): string | undefined {
  return text?.replace(/&(\w+);/g, (escaped, name) => characters[name] ?? escaped)
}
