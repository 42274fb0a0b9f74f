/** Images by the binding IMAGES of a Worker; where there is none, no image is scaled. */
import type { ImageScaler } from '../../ports.ts'

/** Images at a time in one isolate. No request may wait for another one there, so that a third is not scaled. */
const AT_ONCE = 2

export function openCloudflareImages(binding: ImagesBinding | undefined): ImageScaler {
  let running = 0
  return {
    async scale(read, side) {
      if (binding === undefined || running === AT_ONCE) return undefined
      running += 1
      try {
        const image = await read()
        const made = binding
          .input(new Blob([image]).stream())
          .transform({ width: side, height: side, fit: 'scale-down' })
          .output({ format: 'image/webp' })
        // It refuses what it cannot read, and what has too many pixels.
        const response = await made.then((result) => result.response()).catch(() => undefined)
        return response === undefined ? undefined : new Uint8Array(await response.arrayBuffer())
      } finally {
        running -= 1
      }
    },
  }
}
