/** Files of people, their images in small, and what is shipped with the service. */

/** Returns a static file of text by its name, in UTF-8. Throws if the file was not shipped. */
export type Assets = (name: string) => Promise<string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>>

/** The built console. */
export type ConsoleFiles = {
  /** The page, which names the files of its build. */
  page(): Promise<string>
  /** A file by its path from the root; undefined where there is none. Absent where the platform serves files before us. */
  readonly file?: (path: string) => ConsoleFile | undefined
}

export type ConsoleFile = {
  /** Its media type. */
  readonly type: string
  /** A tag of its content, without quotes. */
  readonly tag: string
  /** Its bytes, compressed where a coding is given. */
  bytes(coding: 'br' | 'gzip' | undefined): Promise<Uint8Array<ArrayBuffer>>
}

/** Most bytes of a part of a file: what one request may keep in memory of a file, however large it is. */
export const PART_SIZE = 8 * 1024 ** 2

/**
 * The bytes of files, in parts of at most PART_SIZE, each of which is stored whole or not at all: a file of any size goes
 * through a bounded memory, and is resumed by asking which parts are there. A key is `<workspace id>/<random uuid>`, both in
 * lower case; the service makes it, never from a name that a client gives. Anything else, and numbers out of their range,
 * are a RangeError.
 *
 * A store that cannot be reached, and bytes that are not there, are ServiceError `unavailable`. What the store itself said
 * is observed and not part of the error.
 */
export interface FileStore {
  /** Most bytes of a file because of this kind of store; undefined where it sets no limit. */
  readonly limit?: number | undefined
  /**
   * Stores part `number`, from 1, in place of an earlier one. What was stored outlives a crash of the process and of the
   * machine once it resolves. May be repeated after an error: nobody knows then whether the part was stored.
   */
  put(key: string, number: number, bytes: Uint8Array): Promise<void>
  /**
   * Streams `length` bytes of one part from `offset`, as they are taken. Throws `MissingBytes`, unobserved, where the part is not there
   * or ends before.
   * Whoever gets the stream reads it to its end or cancels it, which frees the file or connection behind it; where the store
   * fails meanwhile it errors as the other calls do.
   */
  read(key: string, number: number, offset: number, length: number): Promise<ReadableStream<Uint8Array>>
  /** The parts that are there, by ascending number; empty for an unknown key. */
  parts(key: string): Promise<readonly FilePart[]>
  /** Removes all parts of a key, or of all keys of a workspace id. Where nothing is there it does nothing. */
  clear(key: string): Promise<void>
}

/** Whoever waits for an image in small: its workspace, and whether the client has disconnected. */
export type ImageWaiter = {
  readonly share: string
  readonly isDisconnected?: () => boolean
  /** Gets what is returned before the next one's turn, who finds it kept. */
  readonly keep?: (made: Uint8Array | 'unmakeable') => Promise<void>
}

/** Makes images smaller. */
export interface ImageScaler {
  /**
   * The image that `read` brings as WebP: upright, within a square of `side`, never enlarged, without metadata, of an animation
   * its first picture; `unmakeable` for what is broken or has too many pixels, and would be again. Undefined where there is
   * nothing that scales, where too much is asked at once, also by the same share, where whoever waits has disconnected before
   * its turn, and where `read`, which is called then, brings nothing; throws what `read` and `keep` throw.
   */
  scale(
    read: () => Promise<Uint8Array<ArrayBuffer> | undefined>,
    side: number,
    waiter: ImageWaiter,
  ): Promise<Uint8Array | 'unmakeable' | undefined>
}

export type FilePart = { readonly number: number; readonly size: number }
