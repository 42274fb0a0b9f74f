/** Which store of files each platform opens, by the variables and by what it has. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Environment, readConfig } from '../../src/config.ts'
import { openCloudflareFiles } from '../../src/platform/cloudflare/files.ts'
import { TABLE_LIMIT } from '../../src/platform/files/limits.ts'
import { openNodeFiles } from '../../src/platform/node/files.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { newKey, numbered } from './file-store.ts'

const folder = await mkdtemp(join(tmpdir(), 'choice-'))
await writeFile(join(folder, 'file'), '')

afterAll(() => rm(folder, { recursive: true }))

/** Where the last part went. */
let at = ''
const noted = (place: string) => async () => {
  at = place
  return []
}
const database: SqlDriver = { query: noted('database'), batch: noted('database'), close: async () => {} }
const bucket = { put: noted('bucket') } as unknown as R2Bucket
const s3 = {
  SERVICE_FILES__STORE: 's3',
  SERVICE_FILES__S3__ENDPOINT: 'http://127.0.0.1:1',
  SERVICE_FILES__S3__BUCKET: 'files',
  SERVICE_FILES__S3__ACCESS_KEY_ID: 'key',
  SERVICE_FILES__S3__SECRET_ACCESS_KEY: 'secret',
}

it.each([
  ['the bucket, where there is one', { FILES: bucket }, {}, 'bucket', undefined],
  ['the database, where there is none', {}, {}, 'database', TABLE_LIMIT],
  ['the database, where it is named', { FILES: bucket }, { SERVICE_FILES__STORE: 'database' }, 'database', TABLE_LIMIT],
  ['the bucket, where it is named', { FILES: bucket }, { SERVICE_FILES__STORE: 'r2' }, 'bucket', undefined],
])('on Workers %s', async (_, bindings, variables, place, limit) => {
  const files = openCloudflareFiles({ config: configOf(variables), bindings, database, observe: () => {} })

  await files.put(newKey(), 1, numbered(1))

  expect([at, files.limit]).toEqual([place, limit])
})

it('on Workers a bucket of S3, where it is named, though there is another', async () => {
  const config = configOf(s3)
  const files = openCloudflareFiles({ config, bindings: { FILES: bucket }, database, observe: () => {} })

  await expect(files.put(newKey(), 1, numbered(1))).rejects.toMatchObject({ kind: 'unavailable' })
})

it.each([
  [{ SERVICE_FILES__STORE: 'folder' }, 'SERVICE_FILES__STORE may be folder only on Node'],
  [{ SERVICE_FILES__STORE: 'r2' }, 'SERVICE_FILES__STORE may be r2 only where wrangler.toml has the binding FILES'],
])('on Workers %j ends the start', (variables, message) => {
  const config = configOf(variables)

  expect(() => openCloudflareFiles({ config, bindings: {}, database, observe: () => {} })).toThrow(
    expect.objectContaining({ kind: 'failed', message }),
  )
})

it('on Node a folder of the data directory, which is made with the first file', async () => {
  const data = join(folder, 'data')
  const files = openNode({ SERVICE_DATA_DIR: data })
  const key = newKey()
  const before = existsSync(data)

  await files.put(key, 1, numbered(1))

  expect([before, existsSync(join(data, 'files', key, '1')), files.limit]).toEqual([false, true, undefined])
})

it('on Node the folder that is named', async () => {
  const files = openNode({ SERVICE_FILES__PATH: join(folder, 'own') })
  const key = newKey()

  await files.put(key, 1, numbered(1))

  expect(existsSync(join(folder, 'own', key, '1'))).toBe(true)
})

it('on Node the database, or a bucket of S3, where they are named', async () => {
  const files = openNode({ SERVICE_FILES__STORE: 'database' })

  await files.put(newKey(), 1, numbered(1))

  expect([at, files.limit]).toEqual(['database', TABLE_LIMIT])
  await expect(openNode(s3).put(newKey(), 1, numbered(1))).rejects.toMatchObject({ kind: 'unavailable' })
})

it.each([
  [{ SERVICE_FILES__STORE: 'r2' }, /^SERVICE_FILES__STORE may be r2 only on Workers/],
  [
    { SERVICE_FILES__PATH: join(folder, 'file', 'below') },
    /^SERVICE_FILES__PATH .*below cannot be used: a part of the path is not a directory$/,
  ],
])('on Node %j ends the start', (variables, message) => {
  expect(() => openNode(variables)).toThrow(message)
})

function openNode(variables: Environment) {
  return openNodeFiles({ config: configOf(variables), database, observe: () => {} })
}

function configOf(variables: Environment) {
  const reading = readConfig(variables)
  if (reading.kind === 'invalid') throw new Error(reading.faults.join())
  return reading.config
}
