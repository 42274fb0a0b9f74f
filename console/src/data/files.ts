/** Files of a workspace, and uploads on their way: one after the other, each with how far it is. */
import { signal } from '@preact/signals'
import type { ServiceError } from 'governed-data-client'
import { type FileItem, files } from 'governed-data-client/files'
import { clientOf } from './client.ts'
import { type Query, queries } from './queries.ts'
import { whenForgotten } from './unsaved.ts'

/** The collection of files. */
export const FILES = 'ServiceFile'

export type Upload = {
  readonly id: number
  /** What it was begun for: uploads are shown there. */
  readonly place: string
  readonly name: string
  readonly total: number
  readonly sent: number
  readonly state: 'waiting' | 'running' | 'failed'
  readonly error?: ServiceError
  /** Sends what is missing, where it has failed. */
  readonly goOn: () => void
  /** Ends it, and lets the service forget what has arrived. */
  readonly cancel: () => void
}

/** In the order of their beginning, without those that are files by now. */
export const uploads = signal<readonly Upload[]>([])

// Whoever signs in next sends nothing of it.
whenForgotten(() => {
  for (const { cancel } of uploads.value) cancel()
})

/** A part has so long, on a line however slow. */
const PATIENCE = 15 * 60_000

let last = 0
let queue: Promise<unknown> = Promise.resolve()

/** `onDone` is called with the file that it became. */
export function upload(
  workspace: string,
  place: string,
  file: File,
  onDone: (item: FileItem) => void = () => {},
): void {
  last += 1
  const id = last
  let resume: string | undefined
  let ended = new AbortController()
  const change = (changed: Partial<Upload>) => {
    uploads.value = uploads.value.map((one) => (one.id === id ? { ...one, ...changed } : one))
  }
  const send = async () => {
    if (ended.signal.aborted) return
    change({ state: 'running' })
    const result = await files(clientOf(workspace)).upload(file, {
      signal: ended.signal,
      timeout: PATIENCE,
      ...(resume !== undefined && { resume }),
      onBegin: (uploadId) => {
        resume = uploadId
      },
      onProgress: ({ sent }) => change({ sent }),
    })
    if (ended.signal.aborted) return
    if (!result.ok) return change({ state: 'failed', error: result.error })
    dismiss(id)
    void queries.invalidateQueries({ queryKey: ['files', workspace] })
    onDone(result.data)
  }
  const wait = () => {
    ended = new AbortController()
    change({ state: 'waiting' })
    queue = queue.then(send)
  }
  const cancel = () => {
    ended.abort()
    dismiss(id)
    if (resume !== undefined) void files(clientOf(workspace)).uploads.delete(resume).then()
  }
  const entry: Upload = { id, place, name: file.name, total: file.size, sent: 0, state: 'waiting', goOn: wait, cancel }
  uploads.value = [...uploads.value, entry]
  wait()
}

function dismiss(id: number): void {
  uploads.value = uploads.value.filter((one) => one.id !== id)
}

/** What was deleted since the page was loaded, the last first: the service lists what was deleted in the audit log alone. */
export const deletedHere = signal<
  readonly { readonly workspace: string; readonly id: string; readonly name: string; readonly time: string }[]
>([])

whenForgotten(() => {
  deletedHere.value = []
})

/** Where the bytes of a file are, for whoever is signed in. */
export function contentPath(workspace: string, id: string): string {
  return `/api/${encodeURIComponent(workspace)}/assets/${encodeURIComponent(id)}`
}

/** What is shown of a file beside its bytes; null where the caller reads none of that name. */
export type FileRow = Pick<FileItem, 'id' | 'fileName' | 'fileSize' | 'mediaType'>

export function fileQuery(workspace: string, id: string | null): Query<FileRow> {
  return {
    queryKey: ['files', workspace, 'one', id],
    enabled: id !== null,
    queryFn: async () => {
      const query = { fields: 'id,fileName,fileSize,mediaType' }
      const path = `items/${FILES}/${encodeURIComponent(id ?? '')}`
      return (await clientOf(workspace).$request<{ readonly data: FileRow }>('GET', path, { query }).orThrow()).data
    },
  }
}

/** The tag of the bytes of a file, which their replacement requires: nobody overwrites what they have not seen. */
export function contentTagQuery(workspace: string, id: string): Query<string | null> {
  return {
    queryKey: ['files', workspace, 'tag', id],
    queryFn: async () => {
      const answer = await clientOf(workspace).$request<never>('HEAD', `assets/${encodeURIComponent(id)}`)
      return answer.ok ? (answer.etag ?? null) : null
    },
  }
}

const images = /^image\/(apng|avif|bmp|gif|jpeg|png|webp)$/

/** What a browser shows of it; all else is downloaded. */
export function kindOf(mediaType: string | undefined): 'image' | 'video' | 'audio' | undefined {
  if (images.test(mediaType ?? '')) return 'image'
  const kind = /^(video\/(mp4|ogg|webm)|audio\/(aac|flac|mp4|mpeg|ogg|wav))$/.exec(mediaType ?? '')?.[1]
  if (kind === undefined) return undefined
  return kind.startsWith('video') ? 'video' : 'audio'
}
