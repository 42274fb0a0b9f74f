/**
 * What every store of files has in common: keys and numbers are checked before anything is asked, so that no key leads out
 * of its place, and whatever a store throws is observed and becomes an error without hosts and paths.
 */
import { MissingBytes } from '../../core/assets/missing-bytes.ts'
import { ServiceError } from '../../core/error.ts'
import { type FileStore, PART_SIZE } from '../../ports/files.ts'
import type { Observe } from '../../ports/observe.ts'

/** A store as its adapter makes it: errors are those of the system or service behind it. */
export type PartStore = Omit<FileStore, 'read'> & {
  /** Undefined where the part is not there or ends before; `length` is at least 1. */
  read(key: string, number: number, offset: number, length: number): Promise<ReadableStream<Uint8Array> | undefined>
}

export type CheckedOptions = { readonly store: PartStore; readonly observe: Observe }

export function checkedFiles({ store, observe }: CheckedOptions): FileStore {
  async function reportingFailure<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      observe({ kind: 'fault', error: new Error('The store of files failed', { cause }) })
      throw new ServiceError('unavailable', 'The store of files cannot be reached', { cause })
    }
  }

  /** The same bytes, of a store that may yet fail. */
  function reported(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = stream.getReader()
    return new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await reportingFailure(() => reader.read())
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  return {
    limit: store.limit,

    async put(key, number, bytes) {
      requirePart(key, number)
      requireRange(bytes.byteLength <= PART_SIZE, 'a part has at most 8 MiB')
      await reportingFailure(() => store.put(key, number, bytes))
    },

    async read(key, number, offset, length) {
      requirePart(key, number)
      requireRange([offset, length, PART_SIZE - offset - length].every(isCount), 'the range is none of a part')
      if (length === 0) return new Blob([]).stream()
      const stream = await reportingFailure(() => store.read(key, number, offset, length))
      if (stream !== undefined) return reported(stream)
      throw new MissingBytes(`part ${number} of ${key}`)
    },

    async parts(key) {
      requireKey(fileKey, key)
      const parts = await reportingFailure(() => store.parts(key))
      return parts.toSorted((one, other) => one.number - other.number)
    },

    async clear(key) {
      requireKey(clearedKey, key)
      await reportingFailure(() => store.clear(key))
    },
  }
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const fileKey = new RegExp(`^${uuid}/${uuid}$`)
const clearedKey = new RegExp(`^${uuid}(?:/${uuid})?$`)

function requireKey(form: RegExp, key: string): void {
  requireRange(form.test(key), 'it is no key of a file')
}

function requirePart(key: string, number: number): void {
  requireKey(fileKey, key)
  requireRange(isCount(number) && number > 0, 'parts are numbered from 1')
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function requireRange(isWithin: boolean, message: string): void {
  if (!isWithin) throw new RangeError(message)
}
