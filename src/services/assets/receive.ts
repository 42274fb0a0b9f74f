/** Streams an upload into a store, part by part, and returns its size, hash and type. */

import { textTypeOf } from '../../core/assets/media-type.ts'
import { Gathered } from '../../core/chunks.ts'
import { type FileStore, PART_SIZE } from '../../ports/files.ts'

/** Bytes in pieces, streamed or in memory. */
export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export type Received = {
  readonly size: number
  /** SHA-256 in base64url. */
  readonly hash: string
  readonly mediaType: string
}

/** Number of leading bytes by which the type of a file is recognized. */
const SNIFFED_BYTES = 64 * 1024

/** Throws what `body` and the store throw; parts stored before that remain. Holds one part in memory. */
export function receive(
  body: Bytes,
  { store, key, fileName }: { readonly store: Pick<FileStore, 'put'>; readonly key: string; readonly fileName: string },
): Promise<Received> {
  const part = new Gathered(PART_SIZE)
  let number = 0
  async function* stored(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      for (let from = 0; from < chunk.length; ) {
        const piece = chunk.subarray(from, from + PART_SIZE - part.length)
        part.add(piece)
        from += piece.length
        if (part.length === PART_SIZE) yield* keep()
      }
    }
    if (part.length > 0) yield* keep()
    part.clear()
  }
  async function* keep(): AsyncGenerator<Uint8Array> {
    number += 1
    const storing = store.put(key, number, part.bytes)
    // The part is hashed while it is being stored.
    storing.catch(() => {})
    try {
      yield part.bytes
    } finally {
      await storing
    }
    part.reset()
  }
  return taken(stored(), fileName)
}

/** Returns size, hash and type of a file. Keeps only the first bytes, by which the type is recognized. */
export async function taken(bytes: AsyncIterable<Uint8Array>, fileName: string): Promise<Received> {
  const [{ createHash }, { fileTypeFromBuffer }] = await Promise.all([import('node:crypto'), import('file-type')])
  const hash = createHash('sha256')
  const start = new Uint8Array(SNIFFED_BYTES)
  let size = 0
  for await (const piece of bytes) {
    if (size < SNIFFED_BYTES) start.set(piece.subarray(0, SNIFFED_BYTES - size), size)
    size += piece.length
    hash.update(piece)
  }
  const head = start.subarray(0, size)
  const sniffed = (await fileTypeFromBuffer(head))?.mime
  const named = textTypeOf(head, size <= SNIFFED_BYTES, fileName)
  // A file that begins like XML may have a more exact type by its name.
  const mediaType = sniffed === undefined || (sniffed === 'application/xml' && named.endsWith('xml')) ? named : sniffed
  return { size, hash: hash.digest('base64url'), mediaType }
}
