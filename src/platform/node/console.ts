/** The files of the built console on Node: read when it is opened, compressed on first use. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { ConsoleFile, ConsoleFiles } from '../../ports/files.ts'

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** `folder` has `index.html` and below `-/assets` what it names. */
export function openNodeConsole(folder: string): ConsoleFiles {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const names = readdirSync(join(folder, '-/assets'))
  const files = new Map(names.map((name) => [`/-/assets/${name}`, fileOf(join(folder, '-/assets', name))]))
  return { page: async () => page, file: (path) => files.get(path) }
}

function fileOf(path: string): ConsoleFile {
  const plain = new Uint8Array(readFileSync(path))
  const made = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return {
    type: types[extname(path)] ?? 'application/octet-stream',
    tag: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    async bytes(coding) {
      if (coding === undefined) return plain
      const bytes = made.get(coding) ?? compressors[coding](plain).then((packed) => new Uint8Array(packed))
      made.set(coding, bytes)
      return bytes
    },
  }
}

const compressors = { br: promisify<Uint8Array, Buffer>(brotliCompress), gzip: promisify<Uint8Array, Buffer>(gzip) }
