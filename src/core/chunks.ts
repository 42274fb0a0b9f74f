/** Bytes that arrive in pieces of whatever size. */

const FIRST = 1024

/** Pieces copied into one buffer, so that none of them is held: at most twice what has arrived, or `most` bytes. */
export class Gathered {
  readonly #most: number
  #buffer = new ArrayBuffer(0)
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  get length(): number {
    return this.#length
  }

  /** All that was added since the last reset, in place. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffer, 0, this.#length)
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    const size = this.#buffer.byteLength
    if (length > size)
      this.#buffer = this.#buffer.transfer(Math.max(length, Math.min(this.#most, Math.max(2 * size, FIRST))))
    new Uint8Array(this.#buffer).set(piece, this.#length)
    this.#length = length
  }

  /** Begins anew, in the same buffer. */
  reset(): void {
    this.#length = 0
  }

  /** Begins anew, and holds nothing. */
  clear(): void {
    this.#buffer = new ArrayBuffer(0)
    this.#length = 0
  }
}

/**
 * Gives back the memory of bytes of which nobody needs any more, now and not as garbage, of which a few parts of a file are more than the
 * program. Does nothing where others have a part of the same memory.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Returns all of them as one. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
