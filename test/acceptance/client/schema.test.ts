/** The types of the client's tests are those that are made of the manifest. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ManifestText, writeSchema } from '../../../packages/client/src/generate.ts'
import { openShop } from './shop.ts'

it('is written of the manifest, equal for equal models', async () => {
  const { db } = await openShop('typed')

  const manifest = await db.$request<ManifestText>('GET', 'schema').orThrow()

  expect(writeSchema(manifest)).toBe(readFileSync(join(import.meta.dirname, 'schema.ts'), 'utf8'))
})

it('has the collections of the system where that is asked, with their keys and relations', async () => {
  const { db } = await openShop('typed')
  const manifest = await db.$request<ManifestText>('GET', 'schema').orThrow()

  const text = writeSchema(manifest, { system: true })

  expect(text).toContain(
    "  ServiceIndexField: {\n    key: [indexId: string, order: number]\n    keyFields: 'indexId' | 'order'\n",
  )
})
