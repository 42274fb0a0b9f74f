/** What decoding an image may cost, whatever it says of itself. */
import { registerHooks } from 'node:module'
import sharp, { type Sharp } from 'sharp'
import { expect, it } from 'vitest'
import { openNodeImages } from '../../src/platform/node/image-scaler.ts'

const images = openNodeImages()
const small = (image: Buffer, side = 64) => images.scale(async () => new Uint8Array(image), side)
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
  expect(await Promise.all(hostile.map((image) => small(image)))).toEqual(hostile.map(() => undefined))
})

it('counts the bytes of samples, twice where a picture is turned, before it decodes any', async () => {
  const deep = (width: number) =>
    plain(width, 6_000).toColourspace('rgb16').ensureAlpha().png({ compressionLevel: 1 }).toBuffer()
  const turned = (image: Sharp) => image.withMetadata({ orientation: 6 }).toBuffer()
  const half = await deep(3_400)
  const halfTurned = await turned(sharp(half).toColourspace('rgb16').png({ compressionLevel: 1 }))

  expect(await sharp(halfTurned).metadata()).toMatchObject({ depth: 'ushort', channels: 4, orientation: 6 })
  expect(await small(halfTurned)).toBeUndefined()
  expect(await small(half)).toBeDefined()
  expect(await small(await deep(7_000))).toBeUndefined()
  expect(await small(await turned(plain(8_000, 6_200).jpeg()))).toBeDefined()
})

it('takes the first picture of an animation', async () => {
  const frames = await sharp({
    create: { width: 100, height: 2_000, pageHeight: 50, channels: 3, background: 'teal' },
  })
    .gif()
    .toBuffer()

  expect(await sharp(await small(frames)).metadata()).toMatchObject({ format: 'webp', width: 64, height: 32 })
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
  const made = await open().scale(async () => photo, 64)
  hooks.deregister()

  expect(made).toBeUndefined()
})

it('makes two at a time, and nothing for those who would wait behind many', async () => {
  const photo = new Uint8Array(await plain(10, 10).jpeg().toBuffer())
  let [running, most] = [0, 0]
  const scale = () =>
    images.scale(async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return photo
    }, 64)
  const made = await Promise.all(Array.from({ length: 70 }, scale))

  expect([most, made.filter((image) => image !== undefined).length]).toEqual([2, 66])
  expect(await scale()).toBeDefined()
})

it('gives its place to the next where a store fails', async () => {
  const failing = () =>
    images.scale(async () => {
      throw new Error('gone')
    }, 64)
  const outcomes = await Promise.allSettled([failing(), failing(), failing()])

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await small(await plain(10, 10).png().toBuffer())).toBeDefined()
})
