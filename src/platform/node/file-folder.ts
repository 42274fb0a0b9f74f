/**
 * Files in a folder: a folder for each workspace, in it one for each key, in it a file for each part, which is written under
 * another name and renamed when its bytes are on the disk. Whoever else may read the machine's files may not read these.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { PartStore } from '../files/checked.ts'
import { pulled } from '../files/pulled.ts'

/** Bytes that a stream reads at once. */
const CHUNK = 256 * 1024

/** Makes the folder when the first part is stored. Keys must be checked already. */
export function openFileFolder(directory: string): PartStore {
  const root = resolve(directory)
  const folderOf = (key: string) => join(root, key)

  return {
    async put(key, number, bytes) {
      const folder = folderOf(key)
      const draft = join(folder, `.${number}.${randomUUID()}`)
      const first = await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        await writeFile(draft, bytes, { flag: 'wx', mode: 0o600, flush: true })
        await rename(draft, join(folder, `${number}`))
      } catch (cause) {
        await rm(draft, { force: true })
        throw cause
      }
      // A name is on the disk once its folder is, also that of a folder that another call has made and not yet synced.
      const highest = first === undefined ? root : shorter(root, dirname(first))
      let changed = folder
      for (await sync(changed); changed !== highest; await sync(changed)) changed = dirname(changed)
    },

    async read(key, number, offset, length) {
      const handle = await open(join(folderOf(key), `${number}`)).catch(unlessMissing)
      if (handle === undefined) return undefined
      if (length <= CHUNK) {
        const buffer = Buffer.allocUnsafe(length)
        const { bytesRead } = await handle
          .read(buffer, 0, length, offset)
          .finally(() => void handle.close().catch(() => {}))
        return bytesRead < length ? undefined : streamOf(buffer)
      }
      const { size } = await handle.stat()
      if (size < offset + length) {
        await handle.close()
        return undefined
      }
      const next = async (sent: number) => {
        const buffer = Buffer.allocUnsafe(Math.min(CHUNK, length - sent))
        const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, offset + sent)
        return buffer.subarray(0, bytesRead)
      }
      return pulled({ length, next, close: () => handle.close() })
    },

    async parts(key) {
      const folder = folderOf(key)
      const names = (await readdir(folder).catch(unlessMissing)) ?? []
      const numbers = names.filter((name) => /^[1-9]\d*$/.test(name))
      return Promise.all(
        numbers.map(async (name) => ({ number: Number(name), size: (await stat(join(folder, name))).size })),
      )
    },

    clear: (key) => rm(folderOf(key), { recursive: true, force: true }),
  }
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}

function shorter(one: string, other: string): string {
  return other.length < one.length ? other : one
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
