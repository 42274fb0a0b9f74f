/** What decoding an image may cost, whatever it says of itself. */
import { registerHooks } from 'node:module'
import sharp, { type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { openCloudflareImages } from '../../src/platform/cloudflare/image-scaler.ts'
import { openNodeImages } from '../../src/platform/node/image-scaler.ts'

const images = openNodeImages()
const turn = { share: 'a' }
const small = (image: Buffer, side = 64) => images.scale(async () => new Uint8Array(image), side, turn)
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'teal' }, limitInputPixels: false })

it('makes nothing of what has too many pixels, is cut off or is a drawing', async () => {
  const large = await plain(10_000, 10_000).png({ compressionLevel: 1 }).toBuffer()
  const photo = await plain(1_000, 1_000).png().toBuffer()
  const line = await plain(20_000, 1).png().toBuffer()
  // Its head says more than there is.
  const head = Buffer.from(photo)
  head.writeUInt32BE(2 ** 31 - 1, 16)
  const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')

  const hostile = [large, photo.subarray(0, photo.length / 2), line, head, drawing]
  expect(await Promise.all(hostile.map((image) => small(image)))).toEqual(hostile.map(() => 'unmakeable'))
})

it('counts the bytes of samples, twice where a picture is turned, before it decodes any', async () => {
  const deep = (width: number) =>
    plain(width, 6_000).toColourspace('rgb16').ensureAlpha().png({ compressionLevel: 1 }).toBuffer()
  const turned = (image: Sharp) => image.withMetadata({ orientation: 6 }).toBuffer()
  const half = await deep(3_400)
  const halfTurned = await turned(sharp(half).toColourspace('rgb16').png({ compressionLevel: 1 }))

  expect(await sharp(halfTurned).metadata()).toMatchObject({ depth: 'ushort', channels: 4, orientation: 6 })
  expect(await small(halfTurned)).toBe('unmakeable')
  expect(await small(half)).toBeInstanceOf(Uint8Array)
  expect(await small(await deep(7_000))).toBe('unmakeable')
  expect(await small(await turned(plain(8_000, 6_200).jpeg()))).toBeInstanceOf(Uint8Array)
})

it('takes the first picture of an animation', async () => {
  const frames = await sharp({
    create: { width: 100, height: 2_000, pageHeight: 50, channels: 3, background: 'teal' },
  })
    .gif()
    .toBuffer()

  expect(await sharp((await small(frames)) as Uint8Array).metadata()).toMatchObject({
    format: 'webp',
    width: 64,
    height: 32,
  })
})

it('makes nothing where its package is not installed', async () => {
  const hooks = registerHooks({
    resolve(name, context, next) {
      if (name === 'sharp') throw new Error('not found')
      return next(name, context)
    },
  })
  // A module of its own, which has found nothing yet.
  const scaler = '../../src/platform/node/image-scaler.ts?without'
  const { openNodeImages: open } = (await import(scaler)) as { openNodeImages: typeof openNodeImages }
  const photo = new Uint8Array(await plain(10, 10).png().toBuffer())
  const made = await open().scale(async () => photo, 64, turn)
  hooks.deregister()

  expect(made).toBeUndefined()
})

it('makes two at a time, one of a workspace, and nothing for those who would wait behind many of theirs', async () => {
  const photo = new Uint8Array(await plain(10, 10).jpeg().toBuffer())
  let [running, most] = [0, 0]
  const scale = (share: string) => {
    const read = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return photo
    }
    return images.scale(read, 64, { share })
  }
  const countOf = async (...shares: readonly string[]) => {
    most = 0
    const made = await Promise.all(shares.map(scale))
    return [most, made.filter((image) => image instanceof Uint8Array).length]
  }
  const many = Array.from({ length: 70 }, () => 'a')

  expect(await countOf(...many)).toEqual([1, 65])
  expect(await countOf(...many, 'b')).toEqual([2, 66])
  expect(await countOf('a', 'b', 'c')).toEqual([2, 3])
})

it('gives its place to the next where a store fails', async () => {
  const failing = () =>
    images.scale(
      async () => {
        throw new Error('gone')
      },
      64,
      turn,
    )
  const outcomes = await Promise.allSettled([failing(), failing(), failing()])

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await small(await plain(10, 10).png().toBuffer())).toBeInstanceOf(Uint8Array)
})

it('holds no place for those who have gone, and reads nothing for them', async () => {
  const photo = new Uint8Array(await plain(10, 10).jpeg().toBuffer())
  const first = Promise.withResolvers<typeof photo>()
  const running = images.scale(() => first.promise, 64, turn)
  let reads = 0
  const gone = Array.from({ length: 64 }, () =>
    images.scale(
      async () => {
        reads += 1
        return photo
      },
      64,
      { ...turn, isDisconnected: () => true },
    ),
  )
  const next = images.scale(async () => photo, 64, turn)
  first.resolve(photo)

  expect(await Promise.all(gone)).toEqual(gone.map(() => undefined))
  expect([await running, await next]).toEqual([expect.any(Uint8Array), expect.any(Uint8Array)])
  expect(reads).toBe(0)
})

it('makes nothing of what is not read any more', async () => {
  expect(await images.scale(async () => undefined, 64, turn)).toBeUndefined()
})

describe('on Workers', () => {
  /** A binding that fails as Cloudflare's does, with this code. */
  const failing = (code: number) => {
    const output = () => Promise.reject(Object.assign(new Error('refused'), { name: 'ImagesError', code }))
    return openCloudflareImages({ input: () => ({ transform: () => ({ output }) }) } as unknown as ImagesBinding)
  }

  it.each([
    [9520, 'unmakeable'],
    [9413, 'unmakeable'],
    [9422, undefined],
    [9523, undefined],
  ])('tells what the binding never makes from what it does not make now: %i', async (code, outcome) => {
    expect(await failing(code).scale(async () => new Uint8Array(1), 64, turn)).toBe(outcome)
  })

  it('makes one of a workspace, beside one of another, and has nobody wait', async () => {
    const { scale } = failing(9520)
    const first = Promise.withResolvers<undefined>()
    const read = async () => new Uint8Array(1)
    const running = scale(() => first.promise, 64, turn)

    expect(await scale(read, 64, turn)).toBeUndefined()
    expect(await scale(read, 64, { share: 'b' })).toBe('unmakeable')
    first.resolve(undefined)
    await running
    expect(await scale(read, 64, turn)).toBe('unmakeable')
  })
})
