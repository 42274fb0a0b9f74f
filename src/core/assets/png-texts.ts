/** What a PNG says in words, which decoders unpack and keep although no picture needs it (docs/decisions/120). */
import { joinChunks } from '../chunks.ts'

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** The chunks of texts, two of which are packed: 6 KiB may become 8 MiB each, and there may be thousands. */
const TEXTS = new Set(['tEXt', 'zTXt', 'iTXt'])

/** Beside its data a chunk has its length, its type and a checksum. */
const FRAME = 12

/** Returns the PNG without its texts; any other image, and one without texts, as it is. */
export function withoutTexts(image: Uint8Array): Uint8Array {
  if (SIGNATURE.some((byte, at) => image[at] !== byte)) return image
  const view = new DataView(image.buffer, image.byteOffset, image.length)
  const kept: Uint8Array[] = []
  let from = 0
  for (let at = SIGNATURE.length; at + FRAME <= image.length; ) {
    const end = at + FRAME + view.getUint32(at)
    if (TEXTS.has(String.fromCharCode(...image.subarray(at + 4, at + 8)))) {
      kept.push(image.subarray(from, at))
      from = end
    }
    at = end
  }
  return from === 0 ? image : joinChunks([...kept, image.subarray(from)])
}
