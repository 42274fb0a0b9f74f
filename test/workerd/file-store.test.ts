/** The suite of the stores of files that a Worker has. */
import { env } from 'cloudflare:workers'
import { beforeAll } from 'vitest'
import { openNeonLazily } from '../../src/platform/cloudflare/lazy-drivers.ts'
import { openFileTable } from '../../src/platform/files/table.ts'
import type { SqlDriver } from '../../src/ports.ts'
import instance from '../../src/store/schema/instance.ts'
import { describeFileStore } from '../ports/file-store.ts'
import type { TestEnv } from './worker.ts'

const { SERVICE_DATABASE_URL: connectionString } = env as unknown as TestEnv

/** The table alone: other files of this project make tables of their own in the same database. */
const ownTable = instance.split(/;\s*\n/).filter((text) => text.includes('service.file_part'))

beforeAll(async () => {
  const statements = ['create schema if not exists service', ...ownTable].map((text) => ({ text, params: [] }))
  await openNeonLazily({ connectionString }).batch(statements)
})

describeFileStore('a table of the system database, over HTTP', {
  open: () => openFileTable(openNeonLazily({ connectionString })),
  // workerd prints a page about each connection that it does not get.
  unreachable: { open: () => openFileTable(unreachable('db.internal')), told: 'db.internal' },
})

function unreachable(told: string): SqlDriver {
  const refuse = async () => {
    throw new Error(told)
  }
  return { query: refuse, batch: refuse, close: async () => {} }
}
