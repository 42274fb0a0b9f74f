/** The suite of the stores of files that a Worker has. */
import { env } from 'cloudflare:workers'
import { beforeAll, inject } from 'vitest'
import { openFileBucket } from '../../src/platform/cloudflare/file-bucket.ts'
import { openNeonLazily } from '../../src/platform/cloudflare/lazy-drivers.ts'
import { openS3 } from '../../src/platform/files/s3.ts'
import { openFileTable } from '../../src/platform/files/table.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import instance from '../../src/store/schema/instance.ts'
import { describeFileStore, describePages } from '../ports/file-store.ts'
import type { TestEnv } from './worker.ts'

const { SERVICE_DATABASE_URL: connectionString, FILES: bucket } = env as unknown as TestEnv

/** The table alone: other files of this project make tables of their own in the same database. */
const ownTable = instance.split(/;\s*\n/).filter((text) => text.includes('service.file_part'))

beforeAll(async () => {
  const statements = ownTable.map((text) => ({ text, params: [] }))
  await openNeonLazily({ connectionString }).batch(statements)
})

describeFileStore('a table of the system database, over HTTP', {
  open: () => openFileTable(openNeonLazily({ connectionString })),
  // workerd prints a page about each connection that it does not get.
  unreachable: { open: () => openFileTable(unreachable('db.internal')), told: 'db.internal' },
})

describeFileStore('a bucket of R2', {
  open: () => openFileBucket(bucket),
  unreachable: { open: () => openFileBucket(removed('no such bucket')), told: 'no such bucket' },
})

describeFileStore('S3, asked by a Worker', {
  open: () => openS3(inject('s3')),
  unreachable: { open: () => openS3({ ...inject('s3'), secretAccessKey: 'another' }), told: 'SignatureDoesNotMatch' },
})

describePages('a bucket of R2', () => openFileBucket(bucket))

function unreachable(told: string): SqlDriver {
  const refuse = async () => {
    throw new Error(told)
  }
  return { query: refuse, batch: refuse, close: async () => {} }
}

function removed(told: string): R2Bucket {
  const refuse = async () => {
    throw new Error(told)
  }
  return { put: refuse, get: refuse, head: refuse, list: refuse, delete: refuse } as unknown as R2Bucket
}
