/**
 * The bytes of files in their store, and the list of unused contents: bytes are stored before their row is written, and removed
 * after the row is deleted (decision 116).
 */
import type { Config } from '../../config.ts'
import { assetFault } from '../../core/assets/file-name.ts'
import { isAllowedType } from '../../core/assets/media-type.ts'
import { MissingBytes } from '../../core/assets/missing-bytes.ts'
import type { ByteRange } from '../../core/assets/range.ts'
import { release } from '../../core/chunks.ts'
import { ServiceError } from '../../core/error.ts'
import { shortName } from '../../core/message-text.ts'
import { pause } from '../../ports/clock.ts'
import { type FilePart, type FileStore, PART_SIZE } from '../../ports/files.ts'
import type { Ports } from '../../ports/ports.ts'
import {
  beginCompletion,
  beginContent,
  beginPart,
  contentState,
  deletedWorkspaces,
  endCompletion,
  endPart,
  expiredContents,
  forgetContent,
  forgetWorkspace,
  giveUpContent,
  keepCompletion,
  keepPart,
  LEASE,
  markContent,
  reserveBytes,
  reservePart,
  type StoredFile,
  type Upload,
} from '../../store/contents.ts'
import { everyWorkspace, findWorkspace, type WorkspaceRow } from '../../store/workspaces.ts'
import { type Bytes, type Received, receive, taken } from './receive.ts'

export type Workspace = Pick<WorkspaceRow, 'id' | 'apiName'>

/** A file that a client uploads. */
export type SentFile = { readonly fileName: string; readonly body: Bytes }

/** A scaled image in the store, whose bytes are streamed. */
export type KeptPreset = { readonly size: number; readonly read: (range: ByteRange) => AsyncGenerator<Uint8Array> }

export type Contents = {
  /** The maximum size of a file, and the setting that defines it. */
  readonly limit: { readonly bytes: number; readonly setting: 'SERVICE_FILES__MAX_SIZE' | 'SERVICE_FILES__STORE' }
  /** Stores the bytes and calls `write`, which writes the rows of the files; removes the bytes if anything fails. */
  keep(
    workspace: Workspace,
    files: readonly SentFile[],
    write: (rows: readonly StoredFile[]) => Promise<string>,
  ): Promise<string>
  /** Begins an upload in parts. Throws 422 if the upload exceeds the workspace's quota. */
  begin(workspace: Workspace, upload: Upload): Promise<string>
  /** Stores a part of an upload and empties `bytes`; false if the upload has ended or is being completed. */
  put(workspace: Workspace, contentKey: string, number: number, bytes: Uint8Array): Promise<boolean>
  parts(workspace: Workspace, contentKey: string): Promise<readonly FilePart[]>
  /**
   * Reads all stored parts and calls `write`, which writes the file's row; meanwhile no part can change. Waits for parts that
   * are being stored, also by a crashed process. Throws 409 if that takes too long or another request completes the upload, and
   * 422 for a type that is not allowed.
   */
  complete(
    workspace: Workspace,
    contentKey: string,
    upload: Upload,
    write: (row: StoredFile) => Promise<string>,
  ): Promise<string>
  /** Removes bytes, unless a file uses them. */
  giveUp(workspace: Workspace, contentKey: string): Promise<void>
  /** Returns the stored image that was scaled to this side. */
  preset(workspace: Workspace, contentKey: string, side: number): Promise<KeptPreset | undefined>
  /** Stores a scaled image for as long as its original, up to PART_SIZE; does nothing if no file uses the original. */
  keepPreset(workspace: Workspace, contentKey: string, side: number, bytes: Uint8Array): Promise<void>
  /** Streams bytes; the caller must read to the end or call `return`. */
  read(workspace: Workspace, contentKey: string, range: ByteRange): AsyncGenerator<Uint8Array>
  /** Removes the bytes that no file needs; does nothing until SERVICE_FILES__CLEAN_INTERVAL has passed since the last run. */
  prune(): Promise<void>
}

export type ContentsDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids' | 'files' | 'observe'>
  readonly config: Config
}

export function createContents(deps: ContentsDeps): Contents {
  const { ports, config } = deps
  const { clock, database, ids, files: store, observe } = ports
  const { SERVICE_FILES__MAX_SIZE: most, SERVICE_FILES__QUOTA: quota, SERVICE_FILES__TYPES: types } = config
  const isOfStore = store.limit !== undefined && store.limit < most
  let cleaned = Number.NEGATIVE_INFINITY

  function rowFrom({ size, hash, mediaType }: Received, fileName: string, contentKey: string): StoredFile {
    if (isAllowedType(mediaType, types)) return { fileName, fileSize: size, mediaType, contentKey, contentHash: hash }
    throw assetFault(shortName(fileName), `is ${mediaType}, which is not allowed here`)
  }

  /** Throws 422 above the quota. Reserves stored bytes; an announced size is checked but not reserved. */
  async function requireRoom({ apiName }: Workspace, sizes: ReadonlyMap<string, number>, announced = 0): Promise<void> {
    if (quota === undefined) return
    const held = await reserveBytes(database, apiName, sizes)
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, announced)
    if (held + announced > quota) throw noRoom(bytes, held + announced - bytes)
  }

  async function requireRoomOfPart({ apiName }: Workspace, key: string, number: number, bytes: number): Promise<void> {
    if (quota === undefined) return
    const { isCounted, bytes: held } = await reservePart(database, apiName, { key, number, quota })
    if (!isCounted) throw noRoom(bytes, held)
  }

  function noRoom(bytes: number, held: number): ServiceError {
    const reason = `the files of the workspace have ${held} bytes of the ${quota} that SERVICE_FILES__QUOTA allows, with those that are kept for a while after they were deleted`
    return assetFault(`there is no room for ${bytes} bytes more`, reason)
  }

  async function giveUp(workspace: Workspace, contentKey: string): Promise<void> {
    const isLoose = await giveUpContent(database, workspace.apiName, contentKey)
    await (isLoose ? remove(workspace, contentKey) : clearUnknown(workspace, contentKey))
  }

  async function isCompletedHere(...completion: Completion): Promise<boolean> {
    const until = performance.now() + LEASE + LOOK
    for (;;) {
      const state = await beginCompletion(...completion)
      if (state !== 'storing' || performance.now() > until) return state === 'begun'
      await pause(LOOK)
    }
  }

  /** Removes the bytes of a content that neither a file nor the list of unused contents refers to. */
  async function clearUnknown(workspace: Workspace, contentKey: string): Promise<void> {
    const state = await contentState(database, workspace.apiName, contentKey)
    if (state === undefined) await store.clear(keyOf(workspace, contentKey))
  }

  /** True if the workspace exists. Also true if the look-up fails, so that the caller's own fault is reported. */
  async function isThere({ id, apiName }: Workspace): Promise<boolean> {
    return findWorkspace(database, apiName).then(
      (found) => found?.id === id,
      () => true,
    )
  }

  /** Renews a lease periodically, until the returned function is called. */
  function again(keep: () => Promise<unknown>): () => void {
    const saying = () => void keep().catch((error: unknown) => observe({ kind: 'fault', error }))
    const timer = setInterval(saying, LEASE / 3)
    return () => clearInterval(timer)
  }

  /** Observes a failure; the cleaning timer retries the work. */
  const tried = (work: Promise<void>) => work.catch((error: unknown) => observe({ kind: 'fault', error }))

  function noteMissing(error: unknown): void {
    if (error instanceof MissingBytes) observe({ kind: 'fault', error })
  }

  /** Reports missing bytes to the operator. */
  async function* noted(bytes: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* bytes
    } catch (error) {
      noteMissing(error)
      throw error
    }
  }

  async function remove(workspace: Workspace, contentKey: string): Promise<void> {
    if (!(await markContent(database, workspace.apiName, contentKey))) return
    await store.clear(keyOf(workspace, contentKey))
    await forgetContent(database, workspace.apiName, contentKey)
  }

  return {
    limit: isOfStore
      ? { bytes: store.limit ?? most, setting: 'SERVICE_FILES__STORE' }
      : { bytes: most, setting: 'SERVICE_FILES__MAX_SIZE' },

    async keep(workspace, files, write) {
      const rows: StoredFile[] = []
      const started: string[] = []
      try {
        for (const { fileName, body } of files) {
          const contentKey = ids.next()
          await beginContent(database, workspace.apiName, contentKey)
          started.push(contentKey)
          rows.push(
            rowFrom(await receive(body, { store, key: keyOf(workspace, contentKey), fileName }), fileName, contentKey),
          )
        }
        await requireRoom(workspace, new Map(rows.map(({ contentKey, fileSize }) => [contentKey, fileSize])))
        return await write(rows)
      } catch (error) {
        const isLeft = await isThere(workspace)
        for (const contentKey of started) {
          // If the row was written nevertheless, `giveUp` keeps the bytes.
          await tried(isLeft ? giveUp(workspace, contentKey) : store.clear(keyOf(workspace, contentKey)))
        }
        throw isLeft ? error : gone(error)
      }
    },

    async begin(workspace, upload) {
      const contentKey = ids.next()
      await requireRoom(workspace, new Map(), upload.fileSize)
      await beginContent(database, workspace.apiName, contentKey, upload)
      return contentKey
    },

    async put(workspace, contentKey, number, bytes) {
      const put = [database, workspace.apiName, contentKey, ids.next()] as const
      if (!(await beginPart(...put))) return false
      const stop = again(() => keepPart(...put))
      try {
        await requireRoomOfPart(workspace, contentKey, number, bytes.byteLength)
        await store.put(keyOf(workspace, contentKey), number, bytes)
        release(bytes)
        const isGivenUp = await endPart(...put, number)
        if (isGivenUp) await tried(remove(workspace, contentKey))
        return !isGivenUp
      } catch (error) {
        if (!(await isThere(workspace))) {
          await tried(store.clear(keyOf(workspace, contentKey)))
          throw gone(error)
        }
        await endPart(...put)
        throw error
      } finally {
        stop()
      }
    },

    parts: (workspace, contentKey) => store.parts(keyOf(workspace, contentKey)),

    async complete(workspace, contentKey, { fileName, fileSize }, write) {
      const completion: Completion = [database, workspace.apiName, contentKey, ids.next()]
      if (!(await isCompletedHere(...completion))) throw isInTheWay()
      const stop = again(() => keepCompletion(...completion))
      try {
        await requireRoom(workspace, new Map())
        const bytes = bytesOf(store, keyOf(workspace, contentKey), { first: 0, last: fileSize - 1 })
        const row = rowFrom(await taken(bytes, fileName), fileName, contentKey)
        // If the parts have changed since they were read, the hash and type in `row` would be wrong.
        if (!(await keepCompletion(...completion))) throw isInTheWay()
        return await write(row)
      } catch (error) {
        const { apiName } = workspace
        const isUnmade = async () => (await contentState(database, apiName, contentKey)) !== 'used'
        let isGivenUp = false
        await tried(
          (async () => {
            isGivenUp = !(await endCompletion(...completion)) && (await isUnmade())
          })(),
        )
        if (isGivenUp) throw new ServiceError('conflict', 'The upload was given up while it was completed')
        noteMissing(error)
        throw error
      } finally {
        stop()
      }
    },

    giveUp,

    read: (workspace, contentKey, range) => noted(bytesOf(store, keyOf(workspace, contentKey), range)),

    async preset(workspace, contentKey, side) {
      const key = keyOf(workspace, contentKey)
      const part = (await store.parts(key)).find(({ number }) => number === PRESET_PART + side)
      if (part === undefined) return undefined
      const { number, size } = part
      return {
        size,
        read: ({ first, last }) => noted(partOf(store, key, number, first, last - first + 1)),
      }
    },

    async keepPreset(workspace, contentKey, side, bytes) {
      if ((await contentState(database, workspace.apiName, contentKey)) !== 'used') return
      await store.put(keyOf(workspace, contentKey), PRESET_PART + side, bytes)
      // The content may have been removed meanwhile: then the stored image is removed as well.
      await clearUnknown(workspace, contentKey)
    },

    async prune() {
      const now = clock.now()
      if (config.SERVICE_FILES__CLEAN_INTERVAL === 0 || now < cleaned + config.SERVICE_FILES__CLEAN_INTERVAL) return
      cleaned = now
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

type Completion = Parameters<typeof beginCompletion>

function isInTheWay(): ServiceError {
  return new ServiceError('conflict', 'A part of the upload is being stored, or it is being completed')
}

/** Milliseconds between two checks whether a part is still being stored. */
const LOOK = 500

/** Scaled images are stored as parts of their original with numbers from here, so that they are deleted with it. */
const PRESET_PART = 1_000_000_000

function gone(cause: unknown): ServiceError {
  return new ServiceError('notFound', 'Workspace does not exist', { cause })
}

function keyOf({ id }: Workspace, contentKey: string): string {
  return `${id}/${contentKey}`
}

/** Streams the parts one after the other; opens a part when the previous one has been read. */
async function* bytesOf(store: FileStore, key: string, { first, last }: ByteRange): AsyncGenerator<Uint8Array> {
  for (let at = first; at <= last; ) {
    const part = Math.floor(at / PART_SIZE)
    const offset = at - part * PART_SIZE
    const length = Math.min(PART_SIZE - offset, last - at + 1)
    yield* partOf(store, key, part + 1, offset, length)
    at += length
  }
}

/** Throws if the store sends fewer or more bytes than announced, because the response has announced its length. */
async function* partOf(store: FileStore, ...part: Parameters<FileStore['read']>): AsyncGenerator<Uint8Array> {
  const [key, number, , length] = part
  let left = length
  for await (const piece of await store.read(...part)) {
    left -= piece.length
    if (left < 0) break
    yield piece
  }
  if (left !== 0) throw new MissingBytes(`part ${number} of ${key} has another length`)
}
