/** The examples of docs/api.md work as they stand there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { world } from '../support/world.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8')
const [migration = '', items = ''] = [...guide.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text)
const [, policy = ''] = /```jsonc\n(.*?)```/s.exec(guide) ?? []
const [, answer = ''] = /answers `(\{"data": \[\{"id".*?\})`\./.exec(guide) ?? []

it('makes collections, items and a policy of them', async () => {
  const shop = await world.workspace('guide', {})
  const operations = migration.replaceAll('<id of the data source>', shop.sourceId)

  const preview = await shop.post('/schema/migrate?dryRun=true', JSON.parse(operations))
  const migrated = await shop.post('/schema/migrate', JSON.parse(operations))
  const created = await shop.post('/items/articles?fields=id,title,author.name', JSON.parse(items))
  const kept = await shop.post('/policies', { name: 'writing', content: JSON.parse(policy) })

  expect([preview.status, migrated.status]).toEqual([200, 200])
  expect([created.status, await created.json()]).toEqual([200, JSON.parse(answer)])
  expect([kept.status, await kept.json()]).toMatchObject([201, { data: { name: 'writing' } }])
})
