/** Opens the store of files that SERVICE_FILES__STORE names, of those that Node has; a folder where it names none. */
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { FileStore } from '../../ports/files.ts'
import type { Observe } from '../../ports/observe.ts'
import { checkedFiles, type PartStore } from '../files/checked.ts'
import { openS3 } from '../files/s3.ts'
import { s3Settings } from '../files/settings.ts'
import { openFileTable } from '../files/table.ts'
import { usableFolder } from './embedded/data-directory.ts'
import { openFileFolder } from './file-folder.ts'
import { operatorFetch } from './network/network.ts'

export type NodeFilesOptions = {
  readonly config: Config
  /** The system database. */
  readonly database: SqlDriver
  readonly observe: Observe
}

/** Throws an Error that tells the operator what to change. */
export function openNodeFiles({ config, database, observe }: NodeFilesOptions): FileStore {
  return checkedFiles({ store: storeOf(config, database), observe })
}

function storeOf(config: Config, database: SqlDriver): PartStore {
  const { SERVICE_FILES__STORE: kind = 'folder' } = config
  switch (kind) {
    case 'folder':
      return openFileFolder(folderOf(config))
    case 's3':
      return openS3({ ...s3Settings(config), wayOut: operatorFetch })
    case 'database':
      return openFileTable(database)
    case 'r2':
      throw new Error('SERVICE_FILES__STORE may be r2 only on Workers: from here a bucket of R2 is reached by s3')
  }
}

/** That of the data directory is made with the first file: whoever stores none needs no disk. */
function folderOf(config: Config): string {
  const path = config.SERVICE_FILES__PATH
  return path === undefined ? join(config.SERVICE_DATA_DIR, 'files') : usableFolder('SERVICE_FILES__PATH', path)
}
