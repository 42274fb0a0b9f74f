/** Files of a workspace (docs/contract.md#files): uploads of any size, in parts that are sent again alone, and links. */
import { type Call, createCall, type Result } from './call.ts'
import type { Requesting } from './client.ts'
import { under } from './items.ts'
import type { Options } from './send.ts'

/** An item of `ServiceFile`. */
export type FileItem = {
  readonly id: string
  readonly fileName: string
  readonly fileSize: number
  readonly mediaType: string
  readonly title: string | null
  readonly description: string | null
  readonly tags: unknown
  readonly createdAt: string
  readonly updatedAt: string
}

/** Parts that the service has of a file; those of an upload go a day after it began. */
export type Upload = {
  readonly id: string
  readonly fileName: string
  readonly fileSize: number
  readonly partSize: number
  readonly expiresAt: string
  readonly parts: readonly { readonly n: number; readonly size: number }[]
}

export type UploadOptions = Options & {
  /** That of the file where it has one. */
  readonly fileName?: string
  /** Bytes that the service has, after each part. */
  readonly onProgress?: (progress: { readonly sent: number; readonly total: number }) => void
  /** Told once the service takes parts: by this id the upload goes on after an interruption. */
  readonly onBegin?: (upload: string) => void
  /** The id of an upload that was interrupted: only what is missing is sent. */
  readonly resume?: string
}

/** What is larger is sent in parts. */
const ONE_PIECE = 8 * 1024 ** 2

const path = (...names: readonly string[]) => ['assets', ...names.map(encodeURIComponent)].join('/')

export function files(db: Requesting) {
  return {
    /** `signal` ends it; its parts stay, for `resume`. Rejects with a `TypeError` without a name, where `resume` is of another size, and where parts would have no bytes. */
    upload(file: Blob, options: UploadOptions = {}): Call<FileItem> {
      const { fileName = nameOf(file), onProgress, onBegin, resume, ...given } = options
      if (file.size > ONE_PIECE || resume !== undefined) return createCall(() => inParts(db, file, options))
      const call = under<FileItem>(db.$request('POST', path(), { ...given, query: { fileName }, body: file.slice() }))
      return createCall(async () => {
        const result = await call
        if (result.ok) onProgress?.({ sent: file.size, total: file.size })
        return result
      })
    },
    /** What has arrived of an upload, and the end of one that nobody goes on with. */
    uploads: {
      get: (id: string, options?: Options) => under<Upload>(db.$request('GET', path('uploads', id), options)),
      delete: (id: string, options?: Options): Call<void> => db.$request('DELETE', path('uploads', id), options),
    },
    /** Brings back what was deleted within the last day. */
    restore: (id: string, options?: Options) => under<FileItem>(db.$request('POST', path(id, 'restore'), options)),
    /** An address for whoever has no credential, for at most an hour (`expiresIn: '5m'`). */
    link: (id: string, { expiresIn, ...options }: Options & { readonly expiresIn?: string } = {}) =>
      under<{ url: string; expiresAt: string }>(
        db.$request('POST', path(id, 'link'), { ...options, body: { ...(expiresIn !== undefined && { expiresIn }) } }),
      ),
  }
}

async function inParts(db: Requesting, file: Blob, options: UploadOptions): Promise<Result<FileItem>> {
  const { fileName = nameOf(file), onProgress, onBegin, resume, ...given } = options
  const total = file.size
  const started = await under<Upload>(
    resume === undefined
      ? db.$request('POST', path('uploads'), { ...given, body: { fileName, fileSize: total } })
      : db.$request('GET', path('uploads', resume), given),
  )
  const complete = (upload: string) => under<FileItem>(db.$request('POST', path('uploads', upload, 'complete'), given))
  // The answer of its end may have been lost: it answers the same again.
  if (!started.ok) return resume !== undefined && started.status === 404 ? complete(resume) : started
  const { id, partSize, fileSize, parts } = started.data
  if (fileSize !== total) throw new TypeError(`The upload is of ${fileSize} bytes, the file has ${total}`)
  // What is no number from 1 has no last part.
  if (!(partSize >= 1)) throw new TypeError(`The upload is in parts of ${partSize} bytes`)
  onBegin?.(id)
  const there = new Set(parts.map(({ n }) => n))
  let sent = parts.reduce((sum, { size }) => sum + size, 0)
  for (let n = 1; (n - 1) * partSize < total; n += 1) {
    if (there.has(n)) continue
    const part = file.slice((n - 1) * partSize, n * partSize)
    const put = await db.$request<never>('PUT', path('uploads', id, String(n)), { ...given, body: part })
    if (!put.ok) return put
    sent += part.size
    onProgress?.({ sent, total })
  }
  return complete(id)
}

function nameOf(file: Blob): string {
  if ('name' in file && typeof file.name === 'string') return file.name
  throw new TypeError('fileName is missing')
}
