/** The laws of the port FileStore, for every adapter, behind the checks that all of them have in common. */
import { describe, expect, it } from 'vitest'
import { checkedFiles, type PartStore } from '../../src/platform/files/checked.ts'
import { type FileStore, PART_SIZE } from '../../src/ports/files.ts'
import type { Observation } from '../../src/ports/observe.ts'

const MIB = 1024 ** 2

export type FileStoreWorld = {
  readonly open: () => PartStore
  /** One that nobody answers for, with a word of what it is told, which only the operator may read. */
  readonly unreachable: { readonly open: () => PartStore; readonly told: string }
}

export function describeFileStore(name: string, world: FileStoreWorld): void {
  describe(`FileStore: ${name}`, () => {
    it('answers the bytes of each part, and of each range of one', async () => {
      const { files } = openChecked(world.open())
      const key = newKey()
      const bytes = numbered(2 * MIB + 7)
      await files.put(key, 1, bytes)
      const ranges = [
        [0, bytes.length],
        [0, 1],
        [5, 100],
        [MIB - 3, 6],
        [MIB, MIB],
        [bytes.length - 1, 1],
        [17, 0],
      ] as const

      const answers = await Promise.all(ranges.map(([offset, length]) => bytesOf(files.read(key, 1, offset, length))))

      const expected = ranges.map(([offset, length]) => bytes.slice(offset, offset + length))
      expect(answers.map((answer, index) => sameBytes(answer, expected[index]))).toEqual(ranges.map(() => true))
    })

    it('stores a part of the largest size, and none that is larger', async () => {
      const { files } = openChecked(world.open())
      const key = newKey()
      const bytes = numbered(PART_SIZE)

      await files.put(key, 3, bytes)
      const larger = files.put(key, 4, new Uint8Array(PART_SIZE + 1))

      await expect(larger).rejects.toThrow(RangeError)
      expect(await files.parts(key)).toEqual([{ number: 3, size: PART_SIZE }])
      expect(sameBytes(await bytesOf(files.read(key, 3, 0, PART_SIZE)), bytes)).toBe(true)
    })

    it('tells the parts of a key by their numbers, not by their digits, and an empty one, too', async () => {
      const { files } = openChecked(world.open())
      const key = newKey()

      for (const number of [10, 2, 1, 11_000]) await files.put(key, number, new Uint8Array(number % 10))

      expect(await files.parts(key)).toEqual([
        { number: 1, size: 1 },
        { number: 2, size: 2 },
        { number: 10, size: 0 },
        { number: 11_000, size: 0 },
      ])
      expect(await files.parts(newKey())).toEqual([])
    })

    it('replaces a part as a whole, also a longer one, and stores no more than the view that it is given', async () => {
      const { files } = openChecked(world.open())
      const key = newKey()
      await files.put(key, 1, numbered(3 * MIB))

      await files.put(key, 1, numbered(100).subarray(10, 20))

      expect(await files.parts(key)).toEqual([{ number: 1, size: 10 }])
      expect([...(await bytesOf(files.read(key, 1, 0, 10)))]).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
    })

    it('has one of several that are stored as one part at a time, and not a mixture', async () => {
      const { files } = openChecked(world.open())
      const key = newKey()
      const several = [1, 2, 3, 4].map((fill) => new Uint8Array(MIB + fill).fill(fill))

      await Promise.all(several.map((bytes) => files.put(key, 1, bytes)))

      const [part] = await files.parts(key)
      const stored = await bytesOf(files.read(key, 1, 0, part?.size ?? 0))
      expect(several.some((bytes) => sameBytes(bytes, stored))).toBe(true)
    })

    it('says that bytes are missing where the part is not there, or ends before them', async () => {
      const { files, observed } = openChecked(world.open())
      const key = newKey()
      await files.put(key, 1, numbered(10))

      const answers = await Promise.allSettled([
        files.read(key, 2, 0, 1),
        files.read(key, 1, 5, 6),
        files.read(key, 1, 10, 1),
        files.read(newKey(), 1, 0, 1),
      ])

      for (const answer of answers) {
        const reason = { kind: 'unavailable', message: 'The bytes of this file are missing' }
        expect(answer).toMatchObject({ status: 'rejected', reason })
      }
      expect(observed).toEqual([])
    })

    it('lets a reader leave in the middle, and others read on', async () => {
      const { files } = openChecked(world.open())
      const key = newKey()
      const bytes = numbered(2 * MIB)
      await files.put(key, 1, bytes)
      const reader = (await files.read(key, 1, 0, bytes.length)).getReader()
      const other = await files.read(key, 1, 0, bytes.length)
      const { value } = await reader.read()

      await reader.cancel()
      await (await files.read(key, 1, 0, 10)).cancel()

      expect(sameBytes(value ?? new Uint8Array(), bytes.slice(0, value?.length))).toBe(true)
      expect(sameBytes(await bytesOf(Promise.resolve(other)), bytes)).toBe(true)
    })

    it('removes all parts of a key, or of all keys of a workspace, and no others', async () => {
      const { files } = openChecked(world.open())
      const workspace = crypto.randomUUID()
      const keys = [newKey(workspace), newKey(workspace), newKey(workspace), newKey()]
      const [first = '', second = '', , elsewhere = ''] = keys
      for (const key of keys) for (const number of [1, 2]) await files.put(key, number, numbered(number))
      const counts = () => Promise.all(keys.map(async (key) => (await files.parts(key)).length))

      await files.clear(first)
      const afterOne = await counts()
      await files.clear(workspace)
      const afterAll = await counts()
      for (const gone of [first, workspace, newKey()]) await files.clear(gone)
      await files.put(second, 1, numbered(1))

      expect([afterOne, afterAll]).toEqual([
        [0, 2, 2, 2],
        [0, 0, 0, 2],
      ])
      expect(await files.parts(second)).toEqual([{ number: 1, size: 1 }])
      await files.clear(elsewhere)
    })

    it.each([
      '',
      '..',
      '../..',
      'name.txt',
      `${crypto.randomUUID()}/`,
      `${crypto.randomUUID()}/..`,
      `${crypto.randomUUID()}/../${crypto.randomUUID()}`,
      `${newKey()}/1`,
      `/${newKey()}`,
      `${newKey()}\n`,
      newKey().toUpperCase(),
      `${crypto.randomUUID()}\\${crypto.randomUUID()}`,
    ])('refuses %j as a key, whatever is asked of it', async (key) => {
      const { files } = openChecked(world.open())

      const asked = [files.put(key, 1, numbered(1)), files.read(key, 1, 0, 1), files.parts(key), files.clear(key)]

      for (const answer of await Promise.allSettled(asked)) {
        expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) })
      }
    })

    it('refuses numbers that are none of a part', async () => {
      const { files } = openChecked(world.open())
      const key = newKey()

      const asked = [
        ...[0, -1, 1.5, Number.NaN].map((number) => files.put(key, number, numbered(1))),
        files.read(key, 1, -1, 1),
        files.read(key, 1, 0, -1),
        files.read(key, 1, 0, PART_SIZE + 1),
        files.read(key, 1, PART_SIZE, 1),
        files.parts(crypto.randomUUID()),
      ]

      for (const answer of await Promise.allSettled(asked)) {
        expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) })
      }
    })

    it('tells the operator alone why it cannot be reached', async () => {
      const { files, observed } = openChecked(world.unreachable.open())
      const key = newKey()

      const asked = [files.put(key, 1, numbered(1)), files.read(key, 1, 0, 1), files.parts(key), files.clear(key)]

      for (const answer of await Promise.allSettled(asked)) {
        const reason = { kind: 'unavailable', message: 'The store of files cannot be reached' }
        expect(answer).toMatchObject({ status: 'rejected', reason })
      }
      expect(observed).toHaveLength(4)
      for (const fault of observed) expect(chainOf(fault)).toContain(world.unreachable.told)
    })
  })
}

/** The laws that a store has whose lists come in pages of a thousand. */
export function describePages(name: string, open: () => PartStore): void {
  it(`FileStore: ${name} lists and removes more parts than a page of the list has`, async () => {
    const { files } = openChecked(open())
    const key = newKey()
    const numbers = Array.from({ length: 1_003 }, (_, index) => index + 1)
    for (let from = 0; from < numbers.length; from += 50) {
      await Promise.all(numbers.slice(from, from + 50).map((number) => files.put(key, number, numbered(1))))
    }

    const parts = await files.parts(key)
    await files.clear(key)

    expect(parts.map(({ number }) => number)).toEqual(numbers)
    expect(await files.parts(key)).toEqual([])
  })
}

export function newKey(workspace: string = crypto.randomUUID()): string {
  return `${workspace}/${crypto.randomUUID()}`
}

/** Bytes that differ from those around them, also from those of the next piece. */
export function numbered(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index += 1) bytes[index] = index + (index >> 8) + (index >> 16)
  return bytes
}

export async function bytesOf(stream: Promise<ReadableStream<Uint8Array>>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response((await stream) as BodyInit).arrayBuffer())
}

export function openChecked(store: PartStore): { readonly files: FileStore; readonly observed: Observation[] } {
  const observed: Observation[] = []
  return { files: checkedFiles({ store, observe: (observation) => observed.push(observation) }), observed }
}

/** Comparing millions of numbers by `toEqual` takes seconds. */
export function sameBytes(one: Uint8Array, other: Uint8Array | undefined): boolean {
  if (one.length !== other?.length) return false
  return one.every((byte, index) => byte === other[index])
}

/** The messages of a fault, from the outermost to that of the system. */
function chainOf(observation: Observation): string {
  const messages: string[] = []
  for (let error = observation.kind === 'fault' ? observation.error : undefined; error instanceof Error; ) {
    messages.push(error.message)
    error = error.cause
  }
  return messages.join('\n')
}
