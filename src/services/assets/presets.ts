/** Images in small (docs/contract.md#files), kept beside their originals (decision 120). */
import { PART_SIZE } from '../../ports/files.ts'
import type { Ports } from '../../ports/ports.ts'
import type { StoredFile } from '../../store/contents.ts'
import type { Contents, KeptPreset, Workspace } from './contents.ts'

/** Sides of the square that an image fits into. */
export const PRESETS = [64, 128, 256, 512, 1024, 2048] as const
export type Preset = (typeof PRESETS)[number]

/** What can be scaled; never what is a drawing or has script. */
const kinds: readonly string[] = ['image/jpeg', 'image/png', 'image/apng', 'image/webp', 'image/gif', 'image/avif']
/** Bytes of an original that is read into memory. */
const LARGEST = 32 * 1024 ** 2

/** What is asked for in place of an original, and by whom. */
export type PresetRequest = { readonly side: Preset; readonly isDisconnected: () => boolean }

/** WebP, made when it is first asked for; undefined where the original takes its place. Throws what the store throws. */
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
      // Whoever was before in the line may have made it.
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
    // Sent as the store has it, so that nobody who takes nothing holds it in memory.
    return shown(await find())
  }
}

/** Kept in place of what cannot be made, so that it is tried once: the bytes of a content stay the same. */
const UNMAKEABLE = new Uint8Array()

function shown(kept: KeptPreset | undefined): KeptPreset | undefined {
  return kept?.size === UNMAKEABLE.length ? undefined : kept
}
