/** Bytes that arrive in pieces of whatever size: small ones are copied together, so that little more is held than has arrived. */

/** From so many bytes on a piece is held as it is. */
const LARGE = 16 * 1024
const [FIRST, LARGEST] = [1024, 64 * 1024]

/** The buffers into which pieces are copied; the rest are whoever's they came from. */
const own = new WeakSet<ArrayBufferLike>()

/** Adds a piece behind `chunks`, in the last of them where that has room. */
export function addChunk(chunks: Uint8Array[], piece: Uint8Array): void {
  if (piece.length >= LARGE) {
    chunks.push(piece)
    return
  }
  const last = chunks.at(-1)
  if (last !== undefined && own.has(last.buffer) && last.length + piece.length <= last.buffer.byteLength) {
    const longer = new Uint8Array(last.buffer, 0, last.length + piece.length)
    longer.set(piece, last.length)
    chunks[chunks.length - 1] = longer
    return
  }
  const size = Math.max(FIRST, Math.min(LARGEST, 2 * (last?.length ?? 0)), piece.length)
  const buffer = new ArrayBuffer(size)
  own.add(buffer)
  const opened = new Uint8Array(buffer, 0, piece.length)
  opened.set(piece)
  chunks.push(opened)
}

/** Returns all of them as one. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
