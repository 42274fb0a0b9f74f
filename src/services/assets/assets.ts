/**
 * Files (docs/contract.md#files). A file is an item of `ServiceFile`, subject to policies, with bytes in a store. Once all
 * bytes are stored, one statement writes its row and removes the bytes from the list of unused contents.
 */

import type { ByteRange } from '../../core/assets/range.ts'
import { codedError, ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { SentKey } from '../../core/plan/item-key.ts'
import { parseAnswer } from '../../core/query/raw-query.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import { findDeletedFile, findFile, type StoredFile } from '../../store/contents.ts'
import { findWorkspace } from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { Throttle } from '../caller/throttle.ts'
import type { Items } from '../data/items.ts'
import { noRecord } from '../data/only-item.ts'
import type { ItemQuery } from '../data/planned.ts'
import type { Contents, SentFile, Workspace } from './contents.ts'
import type { PresetRequest, Presets } from './presets.ts'

/** A file to send. */
export type FileContent = {
  /** Undefined if the caller may not read the field. */
  readonly fileName: string | undefined
  readonly size: number
  readonly mediaType: string
  /** SHA-256 of the bytes in base64url; for a scaled image, a digest of the original's hash and the side. */
  readonly hash: string
  /** Streams a range of the bytes; the caller must read to the end or call `return`. */
  readonly read: (range: ByteRange) => AsyncGenerator<Uint8Array>
}

/** With the query string as the client sent it. */
export type UploadQuery = Omit<ItemQuery, 'sent' | 'once'> & { readonly sent: string }

/** The sender of bytes; `reenter` authorizes again once the bytes have arrived, or throws 401 or 403. */
export type FileSender = { readonly scope: RequestScope; readonly reenter: () => Promise<RequestScope> }

export type AssetFiles = Pick<Contents, 'limit' | 'prune'> & {
  /** Called before the bytes arrive: throws 403 if the caller may not upload or replace files, and the faults of the query. */
  admit(scope: RequestScope, action: 'create' | 'update', query: UploadQuery): Promise<void>
  /** Returns the new items as JSON text of a list. If one file is refused, none is kept. */
  upload(sender: FileSender, files: readonly SentFile[], query: UploadQuery): Promise<string>
  /**
   * Gives a file other bytes and another name and returns the item. Throws 404 if the caller may not see the file, and 412 if
   * `hashes` lacks the hash of its bytes.
   */
  replace(
    sender: FileSender,
    key: SentKey,
    file: SentFile,
    query: UploadQuery & { readonly hashes?: readonly string[] | undefined },
  ): Promise<string>
  /**
   * Creates a deleted file again with its old row, while its bytes exist. Requires the rights to create it and to delete files,
   * because restoring undoes a deletion. Throws 404 if nothing is left.
   */
  restore(scope: RequestScope, id: string, query: UploadQuery): Promise<string>
  /** Returns the file, scaled if `preset` is given and possible. Throws 404 if the caller may not read its row. */
  content(scope: RequestScope, key: SentKey, preset: PresetRequest | undefined): Promise<FileContent>
  /**
   * Returns a path by which anybody may read the file's current bytes, and when the path expires. Throws 404 as `content` does,
   * and 429 after too many links by anonymous callers from `address`, because each link writes an audit entry.
   */
  link(
    scope: RequestScope,
    id: string,
    terms: { readonly lifetime: number; readonly address: string | undefined },
  ): Promise<{ readonly path: string; readonly expiresAt: Instant }>
  /** Returns the file of a link. Throws 404 if the link is invalid or expired, or the file is deleted or has other bytes. */
  linked(workspace: string, id: string, link: string, preset: PresetRequest | undefined): Promise<FileContent>
}

export type AssetFilesDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids' | 'vault'>
  readonly contents: Contents
  readonly items: Items
  readonly presets: Presets
  readonly throttle: Pick<Throttle, 'requireLink'>
}

export function createAssetFiles(deps: AssetFilesDeps): AssetFiles {
  const { ports, contents, items, presets, throttle } = deps
  const { clock, database, ids, vault } = ports

  async function rowOf(scope: RequestScope, key: SentKey): Promise<SeenFile> {
    return parseJson(await (await items.fileContent(scope, key)).answer) as SeenFile
  }

  function contentOf(workspace: Workspace, row: SeenFile): FileContent {
    const { fileName, fileSize, mediaType, contentKey, contentHash } = row
    const read = (range: ByteRange) => contents.read(workspace, contentKey, range)
    return { fileName: fileName ?? undefined, size: fileSize, mediaType, hash: contentHash, read }
  }

  async function presetOf(
    workspace: Workspace,
    row: SeenFile,
    preset: PresetRequest | undefined,
  ): Promise<FileContent> {
    const kept = preset && (await presets(workspace, row, preset))
    if (kept === undefined) return contentOf(workspace, row)
    const fileName = row.fileName === null ? undefined : `${row.fileName.replace(/(?<=.)\.[^.]*$/, '')}.webp`
    // The hash follows from the original's hash and the side, because the scaled image is stored and does not change.
    return { ...kept, fileName, mediaType: 'image/webp', hash: await sha256Hex(`${row.contentHash} ${preset?.side}`) }
  }

  return {
    limit: contents.limit,
    prune: contents.prune,

    async admit(scope, action, { sent }) {
      // Refuses query parameters of other item writes, such as a filter, which would apply to the file's content fields.
      parseAnswer(sent)
      await (await items.admitFile(scope, action)).answer
    },

    upload({ scope, reenter }, files, query) {
      const create = async (rows: readonly StoredFile[]) =>
        (await items.createFiles(await reenter(), rows, query)).answer
      return contents.keep(scope.workspace, files, create)
    },

    async replace({ scope, reenter }, key, file, { hashes, ...query }) {
      const before = hashes && (await rowOf(scope, key))
      if (before && hashes?.includes(before.contentHash) === false) throw codedError('4120')
      const bound = before === undefined ? query : { ...query, sent: within(query.sent, before) }
      return contents.keep(scope.workspace, [file], async ([row]) => {
        const written = (await items.replaceFile(await reenter(), { key, body: row ?? {} }, bound)).answer
        return before === undefined ? written : written.catch(unchangedSince)
      })
    },

    async restore(scope, id, query) {
      await (await items.admitFile(scope, 'delete')).answer
      const find = () => findDeletedFile(database, scope.workspace.apiName, id)
      const file = (await find()) ?? noRecord()
      return (await items.restoreFile(scope, file, query)).answer.catch(async (error: unknown) => {
        // Another request may have restored it meanwhile.
        if ((await find()) === undefined) noRecord()
        throw error
      })
    },

    content: async (scope, key, preset) => presetOf(scope.workspace, await rowOf(scope, key), preset),

    async link(scope, id, { lifetime, address }) {
      const { contentKey, fileName } = await rowOf(scope, { kind: 'value', value: id })
      if (scope.caller.kind === 'anonymous') await throttle.requireLink(address)
      const expiresAt = clock.now() + lifetime
      const sealed: OpenedLink = { contentKey, expiresAt, isNamed: fileName !== null }
      const link = await vault.seal(linkTo(scope.workspace, id), JSON.stringify(sealed))
      const payload = { expiresAt: new Date(expiresAt).toISOString() }
      const event = { action: 'file.link.v1', target: { type: 'file', id }, payload } as const
      await database.query(recordWorkspaceEvent(ids, scope, event))
      const path = `/api/${scope.workspace.apiName}/assets/${id}?link=${encodeURIComponent(link)}`
      return { path, expiresAt }
    },

    async linked(name, id, link, preset) {
      const workspace = (await findWorkspace(database, name)) ?? noRecord()
      const row = await findFile(database, name, id)
      const opened = await vault.open(linkTo(workspace, id), link).catch(() => undefined)
      const { contentKey, expiresAt, isNamed } = parseJson(opened ?? '{}') as Partial<OpenedLink>
      const isOfIt = row !== undefined && contentKey === row.contentKey && (expiresAt ?? 0) > clock.now()
      return isOfIt ? presetOf(workspace, isNamed ? row : { ...row, fileName: null }, preset) : noRecord()
    },
  }
}

/** The row of a file, without its name if the caller may not read that field. */
type SeenFile = Omit<StoredFile, 'fileName'> & { readonly fileName: string | null }

/** `isNamed`: the creator of the link may read the file's name. */
type OpenedLink = { readonly contentKey: string; readonly expiresAt: Instant; readonly isNamed: boolean }

/** The purpose that a link is sealed for, so that a link opens one file only. */
function linkTo({ id }: Workspace, fileId: string): string {
  return `link to the file ${fileId} of the workspace ${id}`
}

/** Adds a filter to a write's query, so that the write does nothing if the file has other bytes by then. */
function within(sent: string, { contentKey }: SeenFile): string {
  const filter = `filter[contentKey][_eq]=${contentKey}`
  return sent === '' ? filter : `${sent}&${filter}`
}

function unchangedSince(error: unknown): never {
  throw error instanceof ServiceError && error.kind === 'notFound' ? codedError('4120') : error
}
