/**
 * Files (docs/contract.md#files). A file is an item of `ServiceFile`, under policies like any other, whose bytes are in a store.
 * Its row is written when all of them are there, by the statement that takes them out of the list of bytes that are of no file.
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

/** A file on its way out. */
export type FileContent = {
  /** Undefined where whoever reads the bytes does not see it. */
  readonly fileName: string | undefined
  readonly size: number
  readonly mediaType: string
  /** SHA-256 of its bytes in base64url; of an image in small one of what it is made of. */
  readonly hash: string
  /** Reads some of its bytes as they are taken; whoever asks takes them to the end or returns. */
  readonly read: (range: ByteRange) => AsyncGenerator<Uint8Array>
}

/** With a query string as it was sent. */
export type UploadQuery = Omit<ItemQuery, 'sent' | 'once'> & { readonly sent: string }

/** Whoever sends bytes; `reenter` returns who they are once the bytes are there, or throws 401 or 403. */
export type FileSender = { readonly scope: RequestScope; readonly reenter: () => Promise<RequestScope> }

export type AssetFiles = Pick<Contents, 'limit' | 'prune'> & {
  /** Before the bytes are there: throws 403 where the caller may upload no file, or replace none, and the faults of the query. */
  admit(scope: RequestScope, action: 'create' | 'update', query: UploadQuery): Promise<void>
  /** Returns the new items as JSON text of a list: all or, where one is refused, none, of which nothing is left. */
  upload(sender: FileSender, files: readonly SentFile[], query: UploadQuery): Promise<string>
  /**
   * Gives a file other bytes and another name and returns the item; 404 where the caller may not see it, 412 where `hashes` lacks
   * that of its bytes.
   */
  replace(
    sender: FileSender,
    key: SentKey,
    file: SentFile,
    query: UploadQuery & { readonly hashes?: readonly string[] | undefined },
  ): Promise<string>
  /**
   * Creates a deleted file again, as it was, while its bytes are there; asks the right to create it, and to delete files, for it takes
   * back what somebody with that has done. 404 where nothing is left.
   */
  restore(scope: RequestScope, id: string, query: UploadQuery): Promise<string>
  /** In small where a preset is named and can be made. Throws 404 where the caller does not read the row of the file. */
  content(scope: RequestScope, key: SentKey, preset: PresetRequest | undefined): Promise<FileContent>
  /**
   * A path by which anybody may read the bytes that the file has now, and when that ends. Throws 404 as `content` does, and 429
   * after too many by anonymous callers from `address`: each is in the audit log, which they would else fill.
   */
  link(
    scope: RequestScope,
    id: string,
    terms: { readonly lifetime: number; readonly address: string | undefined },
  ): Promise<{ readonly path: string; readonly expiresAt: Instant }>
  /** What the link to this file leads to; 404 where it ended, the file is gone or has other bytes, and for any other text. */
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
    // What is made is kept, so that its bytes follow from those of the original and its side.
    return { ...kept, fileName, mediaType: 'image/webp', hash: await sha256Hex(`${row.contentHash} ${preset?.side}`) }
  }

  return {
    limit: contents.limit,
    prune: contents.prune,

    async admit(scope, action, { sent }) {
      // What else writes of items take would be of the bytes and of their place.
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
        // Somebody else may have restored it meanwhile.
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

/** Without its name where whoever asks does not see that. */
type SeenFile = Omit<StoredFile, 'fileName'> & { readonly fileName: string | null }

/** `isNamed`: whoever made the link sees the name of the file. */
type OpenedLink = { readonly contentKey: string; readonly expiresAt: Instant; readonly isNamed: boolean }

/** What a link is sealed for: it opens nothing else. */
function linkTo({ id }: Workspace, fileId: string): string {
  return `link to the file ${fileId} of the workspace ${id}`
}

/** The query of a write that does nothing where the file has other bytes by then. */
function within(sent: string, { contentKey }: SeenFile): string {
  const filter = `filter[contentKey][_eq]=${contentKey}`
  return sent === '' ? filter : `${sent}&${filter}`
}

function unchangedSince(error: unknown): never {
  throw error instanceof ServiceError && error.kind === 'notFound' ? codedError('4120') : error
}
