/** Scaled images (docs/contract.md#files), stored beside their originals (decision 120). */
import { PART_SIZE } from '../../ports/files.ts'
import type { Ports } from '../../ports/ports.ts'
import type { StoredFile } from '../../store/contents.ts'
import type { Contents, KeptPreset, Workspace } from './contents.ts'

/** Sides, in pixels, of the square that an image fits into. */
export const PRESETS = [64, 128, 256, 512, 1024, 2048] as const
export type Preset = (typeof PRESETS)[number]

/** Media types that can be scaled; none with vector graphics or scripts. */
const kinds: readonly string[] = ['image/jpeg', 'image/png', 'image/apng', 'image/webp', 'image/gif', 'image/avif']
/** Maximum bytes of an original that is read into memory. */
const LARGEST = 32 * 1024 ** 2

/** The requested size, and whether the client has disconnected. */
export type PresetRequest = { readonly side: Preset; readonly isDisconnected: () => boolean }

/** Returns a WebP image, made on the first request; undefined to send the original. Throws what the store throws. */
export type Presets = (
  workspace: Workspace,
  row: Pick<StoredFile, 'contentKey' | 'fileSize' | 'mediaType'>,
  preset: PresetRequest,
) => Promise<KeptPreset | undefined>

export type PresetsDeps = { readonly ports: Pick<Ports, 'images'>; readonly contents: Contents }

export function createPresets(deps: PresetsDeps): Presets {
  const { ports, contents } = deps

  return async (workspace, { contentKey, fileSize, mediaType }, { side, isDisconnected }) => {
    if (!kinds.includes(mediaType) || fileSize === 0 || fileSize > LARGEST) return undefined
    const find = () => contents.preset(workspace, contentKey, side)
    const kept = await find()
    if (kept !== undefined) return shown(kept)
    const read = async () => {
      // An earlier request in the queue may have made the image.
      if ((await find()) !== undefined) return undefined
      const image = new Uint8Array(fileSize)
      let size = 0
      for await (const piece of contents.read(workspace, contentKey, { first: 0, last: fileSize - 1 })) {
        image.set(piece, size)
        size += piece.length
      }
      return image
    }
    const keep = (made: Uint8Array | 'unmakeable') => {
      const isImage = made !== 'unmakeable' && made.length <= PART_SIZE
      return contents.keepPreset(workspace, contentKey, side, isImage ? made : UNMAKEABLE)
    }
    await ports.images.scale(read, side, { share: workspace.id, isDisconnected, keep })
    // Streamed from the store, so that a slow client does not keep the image in memory.
    return shown(await find())
  }
}

/** Stored for an image that cannot be scaled, so that scaling is tried once: the bytes of a content never change. */
const UNMAKEABLE = new Uint8Array()

function shown(kept: KeptPreset | undefined): KeptPreset | undefined {
  return kept?.size === UNMAKEABLE.length ? undefined : kept
}
