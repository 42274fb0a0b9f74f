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

it('demands a relation that is required, or its column', async () => {
  const { db } = await openShop('typed')
  const [article] = await db.articles.create([{ title: 'One' }]).orThrow()

  // @ts-expect-error: a comment is one of an article.
  const lacking = await db.comments.create({ text: 'x' })
  const made = await db.comments.create([
    { text: 'by its column', articleId: article?.id ?? '' },
    { text: 'by the relation', article: { _connect: { key: { id: article?.id ?? '' } } } },
  ])

  expect([lacking.ok, made.ok]).toEqual([false, true])
})

it('has the collections of the system where that is asked, with their keys and relations', async () => {
  const { db } = await openShop('typed')
  const manifest = await db.$request<ManifestText>('GET', 'schema').orThrow()

  const text = writeSchema(manifest, { system: true })

  expect(text).toContain(
    "  ServiceIndexField: {\n    key: [indexId: string, order: number]\n    keyFields: 'indexId' | 'order'\n",
  )
})
