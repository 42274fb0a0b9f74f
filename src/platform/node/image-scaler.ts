/**
 * Images by `sharp`, an optional dependency that is loaded with the first image; where it is not installed, none is scaled.
 * Only decoders of the kinds that presets are made of can be reached, whatever the bytes are.
 */
import type { Sharp } from 'sharp'
import { withoutTexts } from '../../core/assets/png-texts.ts'
import type { ImageScaler } from '../../ports/files.ts'
import { createSharedSlots } from '../drivers/shared-slots.ts'

/** Images at a time: each may hold its original and a picture of PIXELS. The second is of another workspace than the first. */
const SLOTS = { most: 2, ofShare: 1, waiting: 64, patience: 30_000 }
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

/** Two images at a time, one of a workspace; 64 more of each wait, half a minute at most, and of what comes then none is made. */
export function openNodeImages(): ImageScaler {
  const slots = createSharedSlots(SLOTS)

  return {
    async scale(read, side, { share, isDisconnected, keep }) {
      const sharp = await load()
      const end = sharp && (await slots.take(share, isDisconnected).catch(() => undefined))
      if (sharp === undefined || end === undefined) return undefined
      try {
        const original = await read()
        if (original === undefined) return undefined
        const image = sharp(withoutTexts(original), { limitInputPixels: PIXELS })
        const made = await scaled(image, side).catch(() => 'unmakeable' as const)
        await keep?.(made)
        return made
      } finally {
        end()
      }
    },
  }
}

async function scaled(image: Sharp, side: number): Promise<Uint8Array | 'unmakeable'> {
  // Of its head alone.
  const { format, width, height, channels, depth, orientation = 1 } = await image.metadata()
  const bytes = width * height * channels * (depth === 'uchar' ? 1 : 2) * (orientation > 1 ? 2 : 1)
  const isHeavy = format === 'heif' && width * height > PIXELS_OF_AVIF
  if (isHeavy || bytes > BYTES || Math.max(width, height) > SIDE) return 'unmakeable'
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
