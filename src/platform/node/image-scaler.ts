/**
 * Images by `sharp`, an optional dependency that is loaded with the first image; where it is not installed, none is scaled.
 * Only decoders of the kinds that presets are made of can be reached, whatever the bytes are.
 */
import type { Sharp } from 'sharp'
import { withoutTexts } from '../../core/assets/png-texts.ts'
import type { ImageScaler } from '../../ports.ts'

/** Images at a time: each may hold its original and a picture of PIXELS. */
const AT_ONCE = 2
const WAITING = 64
/** Of an image that is decoded: those of a large camera. */
const PIXELS = 50_000_000
/** Of all samples, twice where EXIF turns the picture: some are decoded as a whole, and turned into another. */
const BYTES = 300 * 1024 * 1024
/** A decoder of AVIF takes twenty bytes for each pixel at once, others some lines of them. */
const PIXELS_OF_AVIF = 16_000_000
/** Pixels of a side: a line of millions takes as many bytes dozens of times. */
const SIDE = 16_384
const SECONDS = 20

const decoders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((kind) => `VipsForeignLoad${kind}`)

/** Two images at a time; 64 more wait, and of what comes then, as of what is broken or too large to decode, none is made. */
export function openNodeImages(): ImageScaler {
  const waiting: (() => void)[] = []
  let running = 0

  return {
    async scale(read, side) {
      const sharp = await load()
      if (sharp === undefined) return undefined
      if (running === AT_ONCE) {
        if (waiting.length === WAITING) return undefined
        // Whoever ends hands on its place.
        await new Promise<void>((resolve) => waiting.push(resolve))
      } else running += 1
      try {
        const image = sharp(withoutTexts(await read()), { limitInputPixels: PIXELS })
        return await scaled(image, side).catch(() => undefined)
      } finally {
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}

async function scaled(image: Sharp, side: number): Promise<Uint8Array | undefined> {
  // Of its head alone.
  const { format, width, height, channels, depth, orientation = 1 } = await image.metadata()
  const bytes = width * height * channels * (depth === 'uchar' ? 1 : 2) * (orientation > 1 ? 2 : 1)
  const isHeavy = format === 'heif' && width * height > PIXELS_OF_AVIF
  if (isHeavy || bytes > BYTES || Math.max(width, height) > SIDE) return undefined
  return image
    .timeout({ seconds: SECONDS })
    .autoOrient()
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .webp()
    .toBuffer()
}

async function load() {
  const sharp = (await import('sharp').catch(() => undefined))?.default
  if (sharp === undefined) return undefined
  sharp.cache(false)
  sharp.concurrency(1)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: decoders })
  return sharp
}
