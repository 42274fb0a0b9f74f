/**
 * Encodes long strings in parts, between which other requests run: encoding megabytes takes as long as many requests. A socket
 * encodes a string as a whole, and ten times as slowly if a character is beyond Latin-1.
 */
import { joinChunks } from '../../src/core/chunks.ts'
import { pause } from '../../src/ports/clock.ts'

/** Code units per part. */
const PART = 256 * 1024

/** Returns the string in UTF-8. */
export async function encodedInParts(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  const chunks: Uint8Array[] = []
  for (let start = 0; start < text.length; ) {
    if (start > 0) await pause()
    // Surrogate pairs are not split.
    const isCut = isHighSurrogate(text.charCodeAt(start + PART - 1))
    const end = start + PART + (isCut ? 1 : 0)
    chunks.push(encoder.encode(text.slice(start, end)))
    start = end
  }
  return joinChunks(chunks)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}
