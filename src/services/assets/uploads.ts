/** Uploads in parts (docs/contract.md#files), for files of any size: each part is sent, and retried, separately. */
import type { Config } from '../../config.ts'
import { assetFault } from '../../core/assets/file-name.ts'
import { ServiceError } from '../../core/error.ts'
import { parseAnswer } from '../../core/query/raw-query.ts'
import type { Instant } from '../../ports/clock.ts'
import { type FilePart, PART_SIZE } from '../../ports/files.ts'
import type { Ports } from '../../ports/ports.ts'
import { findUpload, findUploader, type Upload } from '../../store/contents.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { Items } from '../data/items.ts'
import { noRecord } from '../data/only-item.ts'
import type { UploadQuery } from './assets.ts'
import type { Contents } from './contents.ts'

/** A file to be uploaded; `sha256` in base64 or base64url is compared at the end. */
export type NewUpload = Omit<Upload, 'userId'>

export type ShownUpload = {
  readonly id: string
  readonly fileName: string
  readonly fileSize: number
  /** Bytes of each part except the last. */
  readonly partSize: number
  readonly expiresAt: Instant
  readonly parts: readonly FilePart[]
}

type ReadPart = (size: number) => Promise<Uint8Array>

/** Only the account that began an upload sees it; others get 404. */
export type Uploads = {
  /** Throws 403 if the caller may not upload files. */
  admit(scope: RequestScope): Promise<void>
  /** Throws 413 for a file that is too large, and 422 if it exceeds the quota. */
  begin(scope: RequestScope, upload: NewUpload): Promise<ShownUpload>
  read(scope: RequestScope, id: string): Promise<ShownUpload>
  /** Stores a part; `read` returns as many bytes as it is asked for. Throws 422 if the upload has no such part. */
  put(scope: RequestScope, id: string, number: number, read: ReadPart): Promise<void>
  /** Creates a file of the parts, unless it exists already, and returns its item. Throws 409 with missing parts. */
  complete(scope: RequestScope, id: string, query: UploadQuery): Promise<string>
  remove(scope: RequestScope, id: string): Promise<void>
}

export type UploadsDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database'>
  readonly config: Pick<Config, 'SERVICE_FILES__UPLOAD_TTL'>
  readonly contents: Contents
  readonly items: Items
}

export function createUploads(deps: UploadsDeps): Uploads {
  const { ports, config, contents, items } = deps
  const { clock, database } = ports

  const userIdOf = ({ caller }: RequestScope) => (caller.kind === 'user' ? caller.userId : undefined)

  async function open(scope: RequestScope, id: string) {
    const { workspace } = scope
    const userId = userIdOf(scope)
    const found = userId === undefined ? undefined : await findUpload(database, workspace.apiName, id)
    return found?.upload.userId === userId && found !== undefined ? found : noRecord()
  }

  /** Returns the file of a completed upload. */
  async function completed(scope: RequestScope, id: string, query: UploadQuery): Promise<string | undefined> {
    const item = await (await items.uploadedFile(scope, id, query)).answer
    const isOwn = async () => (await findUploader(database, scope.workspace.apiName, id)) === userIdOf(scope)
    return item !== undefined && (await isOwn()) ? item : undefined
  }

  /** Returns an upload if it has all parts; otherwise throws 409. */
  async function wholeUpload(scope: RequestScope, id: string): Promise<Upload> {
    const { upload } = await open(scope, id)
    const parts = await contents.parts(scope.workspace, id)
    const sizes = new Map(parts.map(({ number, size }) => [number, size]))
    const missing = sizesOf(upload).flatMap((size, index) => (sizes.get(index + 1) === size ? [] : [index + 1]))
    if (missing.length === 0) return upload
    const listed = `${missing.slice(0, 20).join(', ')}${missing.length > 20 ? ', …' : ''}`
    throw new ServiceError('conflict', `Parts are missing: ${listed}`, { meta: { missing } })
  }

  function shown(id: string, upload: NewUpload, since: Instant, parts: readonly FilePart[]): ShownUpload {
    const { fileName, fileSize } = upload
    return { id, fileName, fileSize, partSize: PART_SIZE, expiresAt: since + config.SERVICE_FILES__UPLOAD_TTL, parts }
  }

  return {
    async admit(scope) {
      await (await items.admitFile(scope, 'create')).answer
    },

    async begin({ workspace, caller }, upload) {
      if (caller.kind !== 'user') throw new ServiceError('forbidden', 'Uploads in parts are for callers who sign in')
      const { bytes, setting } = contents.limit
      if (upload.fileSize > bytes) {
        throw new ServiceError('tooLarge', `The file is larger than ${bytes} bytes, which ${setting} sets`)
      }
      const id = await contents.begin(workspace, { ...upload, userId: caller.userId })
      return shown(id, upload, clock.now(), [])
    },

    async read(scope, id) {
      const { upload, since } = await open(scope, id)
      return shown(id, upload, since, await contents.parts(scope.workspace, id))
    },

    async put(scope, id, number, read) {
      const sizes = sizesOf((await open(scope, id)).upload)
      const size = sizes[number - 1]
      if (size === undefined) throw assetFault('number', `must be from 1 to ${sizes.length}`)
      if (await contents.put(scope.workspace, id, number, await read(size))) return
      throw new ServiceError('conflict', 'The upload has ended or is being completed')
    },

    async complete(scope, id, query) {
      parseAnswer(query.sent)
      const known = await completed(scope, id, query)
      if (known !== undefined) return known
      const { workspace } = scope
      const upload = await wholeUpload(scope, id).catch(async (cause: unknown) => {
        // Another request may have completed the upload meanwhile.
        const made = await completed(scope, id, query)
        if (made === undefined) throw cause
        return made
      })
      if (typeof upload === 'string') return upload
      const wanted = upload.sha256?.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
      return contents.complete(workspace, id, upload, async (row) => {
        if (wanted !== undefined && wanted !== row.contentHash) {
          throw assetFault('sha256', `is not that of the parts: ${row.contentHash}`)
        }
        return (await (await items.createFiles(scope, [row], query)).answer).slice(1, -1)
      })
    },

    async remove(scope, id) {
      await open(scope, id)
      await contents.giveUp(scope.workspace, id)
    },
  }
}

/** Bytes of each part: all have the same size but the last. */
function sizesOf({ fileSize }: Pick<Upload, 'fileSize'>): readonly number[] {
  const whole = Math.floor(fileSize / PART_SIZE)
  const rest = fileSize - whole * PART_SIZE
  return [...new Array<number>(whole).fill(PART_SIZE), ...(rest > 0 ? [rest] : [])]
}
