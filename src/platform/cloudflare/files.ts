/** The store of files of a Worker, which is loaded when a request first asks for it (decision 036). */
import type { FileStore } from '../../ports.ts'
import { TABLE_LIMIT } from '../files/limits.ts'
import type { CloudflareFilesOptions } from './file-stores.ts'

export function openCloudflareFiles(options: CloudflareFilesOptions): FileStore {
  return late({ limit: TABLE_LIMIT, load: async () => (await import('./file-stores.ts')).openStore(options) })
}

type Late = { readonly limit: number | undefined; readonly load: () => Promise<FileStore> }

/** Keeps the finished store only: on Workers no request may wait for what another one loads. */
function late({ limit, load }: Late): FileStore {
  let opened: FileStore | undefined
  const open = async () => {
    const loaded = opened ?? (await load())
    opened ??= loaded
    return opened
  }
  return {
    limit,
    put: async (...part) => (await open()).put(...part),
    read: async (...range) => (await open()).read(...range),
    parts: async (key) => (await open()).parts(key),
    clear: async (key) => (await open()).clear(key),
  }
}
