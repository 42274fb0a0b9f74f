/** Images in small (docs/contract.md#files), kept beside their originals (decision 120). */
import { PART_SIZE, type Ports } from '../../ports.ts'
import type { StoredFile } from '../../store/contents.ts'
import type { Contents, KeptPreset, Workspace } from './contents.ts'

/** Sides of the square that an image fits into. */
export const PRESETS = [64, 128, 256, 512, 1024, 2048] as const
export type Preset = (typeof PRESETS)[number]

/** What can be scaled; never what is a drawing or has script. */
const kinds: readonly string[] = ['image/jpeg', 'image/png', 'image/apng', 'image/webp', 'image/gif', 'image/avif']
/** Bytes of an original that is read into memory. */
const LARGEST = 32 * 1024 ** 2

/** WebP, made when it is first asked for; undefined where the original takes its place. Throws what the store throws. */
export type Presets = (
  workspace: Workspace,
  row: Pick<StoredFile, 'contentKey' | 'fileSize' | 'mediaType'>,
  preset: Preset,
) => Promise<KeptPreset | undefined>

export type PresetsDeps = { readonly ports: Pick<Ports, 'images'>; readonly contents: Contents }

export function createPresets(deps: PresetsDeps): Presets {
  const { ports, contents } = deps

  return async (workspace, { contentKey, fileSize, mediaType }, preset) => {
    if (!kinds.includes(mediaType) || fileSize === 0 || fileSize > LARGEST) return undefined
    const kept = await contents.preset(workspace, contentKey, preset)
    if (kept !== undefined) return kept
    const made = await ports.images.scale(async () => {
      const image = new Uint8Array(fileSize)
      let size = 0
      for await (const piece of contents.read(workspace, contentKey, { first: 0, last: fileSize - 1 })) {
        image.set(piece, size)
        size += piece.length
      }
      return image
    }, preset)
    if (made === undefined || made.length > PART_SIZE) return undefined
    await contents.keepPreset(workspace, contentKey, preset, made)
    // Sent as the store has it, so that nobody who takes nothing holds it in memory.
    return contents.preset(workspace, contentKey, preset)
  }
}
