/**
 * A server that speaks S3: the endpoint that Miniflare has for its buckets of R2. It checks signatures, and digests of what
 * arrives, and knows one bucket with one key.
 */
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from 'miniflare'
import type { S3Options } from '../../../src/platform/files/s3.ts'

export type S3Server = {
  /** How to reach its bucket. */
  readonly address: S3Options
  readonly close: () => Promise<void>
}

export async function startS3(): Promise<S3Server> {
  const keys = { accessKeyId: 'files-key', secretAccessKey: 'a secret of the bucket' }
  const options = {
    modules: true,
    script: 'export default {}',
    compatibilityDate: '2026-10-01',
    r2Buckets: { FILES: { id: 'files', s3Credentials: keys } },
    host: '127.0.0.1',
    port: 0,
    cf: false,
  } as V4MiniflareOptions
  const miniflare = new Miniflare(convertV4MiniflareOptions(options))
  const url = await miniflare.ready
  const endpoint = new URL('/cdn-cgi/local/r2/s3', url).href
  return { address: { endpoint, bucket: 'files', region: 'auto', ...keys }, close: () => miniflare.dispose() }
}
