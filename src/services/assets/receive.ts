/** Takes the bytes of an upload as they arrive: into a store, part by part, with their number, hash and type. */
import { textTypeOf } from '../../core/assets/media-type.ts'
import { type FileStore, PART_SIZE } from '../../ports.ts'

export type Received = {
  readonly size: number
  /** SHA-256 in base64url. */
  readonly hash: string
  readonly mediaType: string
}

/** The bytes by which the type of a file is told. */
const TELLING = 64 * 1024

/** Throws what `body` and the store throw; some parts are stored then. Holds one part in memory, whatever the file. */
export async function receive(
  body: ReadableStream<Uint8Array>,
  { store, key, fileName }: { readonly store: Pick<FileStore, 'put'>; readonly key: string; readonly fileName: string },
): Promise<Received> {
  const [{ createHash }, { fileTypeFromBuffer }] = await Promise.all([import('node:crypto'), import('file-type')])
  const hash = createHash('sha256')
  const parts = new Parts()
  let start = new Uint8Array()
  const keep = async (part: Uint8Array, number: number) => {
    if (number === 1) start = part.slice(0, TELLING)
    hash.update(part)
    await store.put(key, number, part)
  }
  for await (const chunk of body) for (const part of parts.add(chunk)) await keep(part, parts.number)
  const last = parts.rest()
  if (last.length > 0) await keep(last, parts.number)
  const isWhole = start.length === parts.size
  const sniffed = (await fileTypeFromBuffer(start))?.mime
  const named = textTypeOf(start, isWhole, fileName)
  // What the signature of XML begins with may be of a more exact type.
  const mediaType = sniffed === undefined || (sniffed === 'application/xml' && named.endsWith('xml')) ? named : sniffed
  return { size: parts.size, hash: hash.digest('base64url'), mediaType }
}

/** Cuts what arrives into parts of PART_SIZE. */
class Parts {
  size = 0
  number = 0
  #chunks: Uint8Array[] = []
  #held = 0

  /** Returns what is held, possibly nothing, and holds nothing then. */
  rest(): Uint8Array {
    const part = new Uint8Array(this.#held)
    let offset = 0
    for (const chunk of this.#chunks) {
      part.set(chunk, offset)
      offset += chunk.length
    }
    if (part.length > 0) this.number += 1
    this.#chunks = []
    this.#held = 0
    return part
  }

  /** Yields each part that has become full. */
  *add(chunk: Uint8Array): Iterable<Uint8Array> {
    this.size += chunk.length
    for (let from = 0; from < chunk.length; ) {
      const piece = chunk.subarray(from, from + PART_SIZE - this.#held)
      this.#chunks.push(piece)
      this.#held += piece.length
      from += piece.length
      if (this.#held === PART_SIZE) yield this.rest()
    }
  }
}
