/** Opens each kind of store of files that a Worker may have; loads apart from what every start needs. */
import type { Config } from '../../config.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { FileStore } from '../../ports/files.ts'
import type { Observe } from '../../ports/observe.ts'
import { checkedFiles, type PartStore } from '../files/checked.ts'
import { openS3 } from '../files/s3.ts'
import { s3Settings } from '../files/settings.ts'
import { openFileTable } from '../files/table.ts'
import { openFileBucket } from './file-bucket.ts'

export type CloudflareStore = {
  readonly kind: 's3' | 'r2' | 'database'
  readonly config: Config
  /** There is one where the kind is `r2`. */
  readonly bucket: R2Bucket | undefined
  /** The system database. */
  readonly database: SqlDriver
  readonly observe: Observe
}

export function openStore(options: CloudflareStore): FileStore {
  return checkedFiles({ store: partStoreOf(options), observe: options.observe })
}

function partStoreOf({ kind, config, bucket, database }: CloudflareStore): PartStore {
  if (kind === 's3') return openS3(s3Settings(config))
  return bucket === undefined || kind === 'database' ? openFileTable(database) : openFileBucket(bucket)
}
