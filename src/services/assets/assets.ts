/**
 * Files (docs/contract.md#files). A file is an item of `ServiceFile`, under policies like any other, whose bytes are in a store.
 * Its row is written when all of them are there, by the statement that takes them out of the list of bytes that are of no file.
 */
import type { Config } from '../../config.ts'
import { isAllowedType } from '../../core/assets/media-type.ts'
import type { ByteRange } from '../../core/assets/range.ts'
import { codedError, nested, ServiceError } from '../../core/error.ts'
import { shortName } from '../../core/message-text.ts'
import type { SentKey } from '../../core/plan/item-key.ts'
import { parseCreate, parseItem } from '../../core/query/raw-query.ts'
import { type FileStore, PART_SIZE, type Ports } from '../../ports.ts'
import {
  beginContent,
  bytesOfFiles,
  deletedWorkspaces,
  expiredContents,
  forgetContent,
  forgetWorkspace,
  giveUpContent,
} from '../../store/contents.ts'
import { everyWorkspace } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { Items } from '../data/items.ts'
import type { ItemQuery } from '../data/planned.ts'
import { receive } from './receive.ts'

/** A file on its way in. */
export type SentFile = { readonly fileName: string; readonly body: ReadableStream<Uint8Array> }

/** A file on its way out. */
export type FileContent = {
  readonly fileName: string
  readonly size: number
  readonly mediaType: string
  /** SHA-256 of its bytes in base64url. */
  readonly hash: string
  /** Streams some of its bytes; whoever asks reads them to the end or cancels. */
  readonly read: (range: ByteRange) => ReadableStream<Uint8Array>
}

/** With a query string as it was sent. */
export type UploadQuery = Omit<ItemQuery, 'sent' | 'once'> & { readonly sent: string }

export type AssetFiles = {
  /** Bytes that a file may have at most, and the setting that says so. */
  readonly limit: { readonly bytes: number; readonly setting: 'SERVICE_FILES__MAX_SIZE' | 'SERVICE_FILES__STORE' }
  /** Before the bytes are there: throws 403 where the caller may upload no file, or replace none, and the faults of the query. */
  admit(scope: RequestScope, action: 'create' | 'update', query: UploadQuery): Promise<void>
  /** Returns the new items as JSON text of a list: all or, where one is refused, none, of which nothing is left. */
  upload(scope: RequestScope, files: readonly SentFile[], query: UploadQuery): Promise<string>
  /**
   * Gives a file other bytes and another name and returns the item; 404 where the caller may not see it, 412 where `hashes` lacks
   * that of its bytes.
   */
  replace(
    scope: RequestScope,
    key: SentKey,
    file: SentFile,
    query: UploadQuery & { readonly hashes?: readonly string[] | undefined },
  ): Promise<string>
  /** Throws 404 where the caller does not read the row of the file. */
  content(scope: RequestScope, key: SentKey): Promise<FileContent>
  /** Removes the bytes that no file needs; does nothing until SERVICE_FILES__CLEAN_INTERVAL has passed since the last time. */
  prune(): Promise<void>
}

export type AssetFilesDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids' | 'files' | 'observe'>
  readonly config: Config
  readonly items: Items
}

export function createAssetFiles(deps: AssetFilesDeps): AssetFiles {
  const { ports, config, items } = deps
  const { clock, database, ids, files: store, observe } = ports
  const types = config.SERVICE_FILES__TYPES
  const { SERVICE_FILES__MAX_SIZE: most, SERVICE_FILES__QUOTA: quota } = config
  let cleaned = Number.NEGATIVE_INFINITY
  const isOfStore = store.limit !== undefined && store.limit < most

  /** Stores the bytes, has `write` write the rows of their files, and leaves nothing of them where anything fails. */
  async function stored(
    { workspace }: RequestScope,
    files: readonly SentFile[],
    write: (rows: readonly FileRow[]) => Promise<string>,
  ): Promise<string> {
    const rows: FileRow[] = []
    const begun: string[] = []
    try {
      for (const { fileName, body } of files) {
        const contentKey = ids.next()
        await beginContent(database, workspace.apiName, contentKey)
        begun.push(contentKey)
        const { size, hash, mediaType } = await receive(body, { store, key: `${workspace.id}/${contentKey}`, fileName })
        if (!isAllowedType(mediaType, types)) {
          throw nested('invalid', [UNREADABLE_FILE, shortName(fileName), `is ${mediaType}, which is not allowed here`])
        }
        rows.push({ fileName, fileSize: size, mediaType, contentKey, contentHash: hash })
      }
      if (quota !== undefined) await requireRoom(workspace, rows, quota)
      return await write(rows)
    } catch (error) {
      for (const contentKey of begun) {
        // Of a row that was written nevertheless the bytes stay. What fails here, too, is removed later.
        await giveUp(workspace, contentKey).catch((error: unknown) => observe({ kind: 'fault', error }))
      }
      throw error
    }
  }

  async function requireRoom({ apiName }: Workspace, rows: readonly FileRow[], quota: number): Promise<void> {
    const held = await bytesOfFiles(database, apiName)
    const sent = rows.reduce((sum, { fileSize }) => sum + fileSize, 0)
    if (held + sent <= quota) return
    const reason = `the files of the workspace have ${held} bytes of the ${quota} that SERVICE_FILES__QUOTA allows`
    throw nested('invalid', [UNREADABLE_FILE, `there is no room for ${sent} bytes more`, reason])
  }

  async function giveUp({ id, apiName }: Workspace, contentKey: string): Promise<void> {
    const isLoose = await giveUpContent(database, apiName, contentKey)
    if (isLoose) await remove({ id, apiName }, contentKey)
  }

  async function remove({ id, apiName }: Workspace, contentKey: string): Promise<void> {
    await store.clear(`${id}/${contentKey}`)
    await forgetContent(database, apiName, contentKey)
  }

  async function contentRow(scope: RequestScope, key: SentKey): Promise<FileRow> {
    return JSON.parse(await (await items.fileContent(scope, key)).answer) as FileRow
  }

  return {
    limit: isOfStore
      ? { bytes: store.limit ?? most, setting: 'SERVICE_FILES__STORE' }
      : { bytes: most, setting: 'SERVICE_FILES__MAX_SIZE' },

    async admit(scope, action, { sent }) {
      if (action === 'create') parseCreate(sent)
      else parseItem(sent)
      await (await items.admitFile(scope, action)).answer
    },

    upload(scope, files, query) {
      return stored(scope, files, async (rows) => (await items.createFiles(scope, rows, query)).answer)
    },

    async replace(scope, key, file, { hashes, ...query }) {
      const before = hashes && (await contentRow(scope, key))
      if (before && hashes?.includes(before.contentHash) === false) throw codedError('4120')
      const bound = before === undefined ? query : { ...query, sent: within(query.sent, before) }
      return stored(scope, [file], async ([row]) => {
        const written = (await items.replaceFile(scope, { key, body: row ?? {} }, bound)).answer
        return before === undefined ? written : written.catch(unchangedSince)
      })
    },

    async content(scope, key) {
      const { fileName, fileSize, mediaType, contentKey, contentHash } = await contentRow(scope, key)
      const bytes = `${scope.workspace.id}/${contentKey}`
      return { fileName, size: fileSize, mediaType, hash: contentHash, read: (range) => streamed(store, bytes, range) }
    },

    async prune() {
      const now = clock.now()
      if (config.SERVICE_FILES__CLEAN_INTERVAL === 0 || now < cleaned + config.SERVICE_FILES__CLEAN_INTERVAL) return
      cleaned = now
      // Of a store that fails the rest is tried again the next time.
      const tried = (work: Promise<void>) => work.catch((error: unknown) => observe({ kind: 'fault', error }))
      const before = { uploads: now - config.SERVICE_FILES__UPLOAD_TTL, left: now - config.SERVICE_FILES__DELETE_AFTER }
      for (const { id, apiName } of await everyWorkspace(database)) {
        for (const contentKey of await expiredContents(database, apiName, before)) {
          await tried(remove({ id, apiName }, contentKey))
        }
      }
      for (const id of await deletedWorkspaces(database)) {
        await tried(store.clear(id).then(() => forgetWorkspace(database, id)))
      }
    },
  }
}

type Workspace = Pick<RequestScope['workspace'], 'id' | 'apiName'>

const UNREADABLE_FILE = 'Failed to read the file'

/** What the service writes of a file. */
type FileRow = {
  readonly fileName: string
  readonly fileSize: number
  readonly mediaType: string
  readonly contentKey: string
  readonly contentHash: string
}

/** The query of a write that does nothing where the file has other bytes by then. */
function within(sent: string, { contentKey }: FileRow): string {
  return `${sent}${sent === '' ? '?' : '&'}filter[contentKey][_eq]=${contentKey}`
}

function unchangedSince(error: unknown): never {
  throw error instanceof ServiceError && error.kind === 'notFound' ? codedError('4120') : error
}

/** Reads one part after the other, the next when the one before was taken. */
function streamed(store: FileStore, key: string, { first, last }: ByteRange): ReadableStream<Uint8Array> {
  let at = first
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (at <= last) {
          if (reader === undefined) {
            const part = Math.floor(at / PART_SIZE)
            const offset = at - part * PART_SIZE
            const length = Math.min(PART_SIZE - offset, last - at + 1)
            reader = (await store.read(key, part + 1, offset, length)).getReader()
          }
          const { done, value } = await reader.read()
          if (!done && value !== undefined) {
            at += value.length
            controller.enqueue(value)
            return
          }
          reader = undefined
        }
        controller.close()
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
