/**
 * The store of files that SERVICE_FILES__STORE names, of those that a Worker has: the binding FILES where it names none, and
 * the system database where there is no binding. Loaded when a request first asks for it (decision 036).
 */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import type { FileStore } from '../../ports/files.ts'
import { TABLE_LIMIT } from '../files/limits.ts'
import type { CloudflareStore } from './file-stores.ts'

export type CloudflareFilesOptions = Omit<CloudflareStore, 'kind' | 'bucket'> & {
  readonly config: Config
  readonly bindings: { readonly FILES?: R2Bucket }
}

/** Throws ServiceError `failed` that tells the operator what to change. */
export function openCloudflareFiles({ bindings, ...options }: CloudflareFilesOptions): FileStore {
  const { SERVICE_FILES__STORE: kind = bindings.FILES === undefined ? 'database' : 'r2' } = options.config
  if (kind === 'folder') throw new ServiceError('failed', 'SERVICE_FILES__STORE may be folder only on Node')
  if (kind === 'r2' && bindings.FILES === undefined) {
    throw new ServiceError('failed', 'SERVICE_FILES__STORE may be r2 only where wrangler.toml has the binding FILES')
  }
  const store = { ...options, kind, bucket: bindings.FILES }
  return late({
    limit: kind === 'database' ? TABLE_LIMIT : undefined,
    load: async () => (await import('./file-stores.ts')).openStore(store),
  })
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
