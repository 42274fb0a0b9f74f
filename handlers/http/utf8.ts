/**
 * Encodes long strings in parts: one of megabytes takes as long as many other requests, which run between them. What writes a string
 * to a socket encodes it as a whole, and ten times as slowly where a character is beyond Latin-1.
 */
import { joinChunks } from '../../src/core/chunks.ts'
import { pause } from '../../src/ports/clock.ts'

/** Code units of a part. */
const PART = 256 * 1024

/** Returns the string in UTF-8. */
export async function encodedInParts(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  const chunks: Uint8Array[] = []
  for (let start = 0; start < text.length; ) {
    if (start > 0) await pause()
    // No character is cut in two.
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
