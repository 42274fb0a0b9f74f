/** Images by the binding IMAGES of a Worker; where there is none, no image is scaled. */
import type { ImageScaler } from '../../ports/files.ts'
import { createSharedSlots } from '../drivers/shared-slots.ts'

/**
 * Images at a time in one isolate, the second of another workspace than the first. No request may wait for another one there, so
 * that what has no slot is not scaled.
 */
const SLOTS = { most: 2, ofShare: 1, patience: 0 }
/** What the binding says of an image that is none, has too many pixels or another format; it fails by much else that passes. */
const UNMAKEABLE: readonly unknown[] = [9412, 9413, 9520]

export function openCloudflareImages(binding: ImagesBinding | undefined): ImageScaler {
  const slots = createSharedSlots(SLOTS)
  return {
    async scale(read, side, { share, keep }) {
      const end = binding && slots.takeNow(share)
      if (binding === undefined || end === undefined) return undefined
      try {
        const image = await read()
        if (image === undefined) return undefined
        const made = binding
          .input(new Blob([image]).stream())
          .transform({ width: side, height: side, fit: 'scale-down' })
          .output({ format: 'image/webp' })
        const response = await made.then((result) => result.response()).catch(refusal)
        const result = response instanceof Response ? new Uint8Array(await response.arrayBuffer()) : response
        if (result !== undefined) await keep?.(result)
        return result
      } finally {
        end()
      }
    },
  }
}

function refusal(error: { readonly code?: unknown }): 'unmakeable' | undefined {
  return UNMAKEABLE.includes(error.code) ? 'unmakeable' : undefined
}
