/** What an image or archive may take of the memory of the process that opens it, whatever it says of itself and however it is packed. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'

/** MiB of a process with one image in it, of which 65 are the process. */
const MOST = 400

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const plain = (width: number, height: number, channels: 3 | 4 = 4) =>
  sharp({ create: { width, height, channels, background: { r: 1, g: 2, b: 3, alpha: 0.5 } }, limitInputPixels: false })

/** A picture of one pixel in each of so many frames. */
const frames = (count: number) => {
  const frame = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
  const head = [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
  const all = Array.from({ length: count }, () => frame).flat()
  return Buffer.from([...Buffer.from('GIF89a'), ...head, ...all, 0x3b])
}

/** A PNG with so many texts of so many bytes, each packed to a thousandth. */
async function withTexts(count: number, size: number): Promise<Buffer> {
  const image = await plain(1, 1).png().toBuffer()
  const typed = Buffer.concat([Buffer.from('zTXta\0\0'), deflateSync(Buffer.alloc(size, 65))])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(typed.length - 4)
  sum.writeUInt32BE(crc32(typed))
  const text = Buffer.concat([length, typed, sum])
  return Buffer.concat([image.subarray(0, 33), ...Array.from({ length: count }, () => text), image.subarray(33)])
}

it.each<readonly [string, 'original' | 'made', () => Buffer | Promise<Buffer>]>([
  ['100 megapixels', 'original', () => plain(10_000, 10_000, 3).png().toBuffer()],
  ['160 megapixels of WebP', 'original', () => plain(16_000, 10_000, 3).webp({ effort: 0 }).toBuffer()],
  ['36 megapixels of AVIF', 'original', () => plain(6_000, 6_000).avif({ effort: 0 }).toBuffer()],
  ['16 megapixels of AVIF', 'made', () => plain(4_000, 4_000).avif({ effort: 0 }).toBuffer()],
  ['50 megapixels in one line', 'original', () => plain(50_000_000, 1, 3).png().toBuffer()],
  ['49 megapixels, interlaced', 'made', () => plain(7_000, 7_000).png({ progressive: true }).toBuffer()],
  ['49 megapixels in three passes', 'made', () => plain(7_000, 7_000, 3).jpeg({ progressive: true }).toBuffer()],
  ['49 megapixels, turned', 'made', () => plain(7_000, 7_000, 3).jpeg().withMetadata({ orientation: 6 }).toBuffer()],
  ['16,384 pixels in 3,000 lines', 'made', () => plain(16_384, 3_000).png({ progressive: true }).toBuffer()],
  ['a pixel with 700 MB of texts', 'made', () => withTexts(100, 7_000_000)],
  ['an animation of 200,000 frames', 'made', () => frames(200_000)],
])('is bounded: %s', async (_, outcome, image) => {
  const file = join(folder, 'image')
  await writeFile(file, await image())

  const [made, peak] = await scaledAlone(file)

  expect([made, peak]).toEqual([outcome, expect.toSatisfy(isBounded)])
})

/** An archive whose entry, by which file-type tells documents of offices, is a thousand times as long as it looks. */
it('is bounded: an archive that is opened to tell its type', async () => {
  const name = Buffer.from('[Content_Types].xml')
  const packed = deflateRawSync(Buffer.alloc(60 * 1024 ** 2), { level: 9 })
  const head = Buffer.from('504b03041400000008000000000000000000', 'hex')
  const sizes = Buffer.alloc(12)
  sizes.writeUInt32LE(packed.length, 0)
  sizes.writeUInt32LE(60 * 1024 ** 2, 4)
  sizes.writeUInt16LE(name.length, 8)
  const file = join(folder, 'archive')
  await writeFile(file, Buffer.concat([head, sizes, name, packed]))

  const [mediaType, peak] = await alone(`
    import { taken } from './src/services/assets/receive.ts'
    const told = (await taken([readFileSync(${JSON.stringify(file)})], 'a.docx')).mediaType`)

  expect([mediaType, peak]).toEqual(['application/zip', expect.toSatisfy(isBounded)])
})

/** Whether the image can be made as large as the largest of the presets, and the peak of the process that did it. */
function scaledAlone(file: string): Promise<readonly [string, number]> {
  return alone(`
    import { openNodeImages } from './src/platform/node/image-scaler.ts'
    const made = await openNodeImages().scale(async () => new Uint8Array(readFileSync(${JSON.stringify(file)})), 2048, { share: 'a' })
    const told = made instanceof Uint8Array ? 'made' : 'original'`)
}

/** What a program has `told`, and the most MiB of its process. */
async function alone(program: string): Promise<readonly [string, number]> {
  const whole = `
    import { readFileSync } from 'node:fs'
    ${program}
    const peak = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] / 1024
    console.log(JSON.stringify([told, peak]))`
  const cwd = join(import.meta.dirname, '../..')
  const args = ['--input-type=module-typescript', '--eval', whole]
  return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd })).stdout) as [string, number]
}

function isBounded(mebibytes: number): boolean {
  return mebibytes > 50 && mebibytes < MOST
}
