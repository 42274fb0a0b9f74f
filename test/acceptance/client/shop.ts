/** A workspace and the client of its administrator, typed by what the generator writes of it. */
import { type Client, createClient } from '../../../packages/client/src/index.ts'
import { type Workspace, world } from '../../support/service/world.ts'
import type { Schema } from './schema.ts'

export type { Schema } from './schema.ts'

export async function openShop(stem: string): Promise<{ readonly shop: Workspace; readonly db: Client<Schema> }> {
  const shop = await world.workspace(
    stem,
    {
      articles: {
        title: 'string',
        status: 'string?',
        words: 'string[]?',
        likes: 'int32?',
        rating: 'float64?',
        at: 'dateTimeWithTimezone?',
        price: 'decimal(10,2)?',
        details: 'json?',
        authorId: 'int64?',
      },
      authors: { name: 'string', born: 'date?' },
      comments: { text: 'string', articleId: 'int64' },
      notes: { id: 'string', text: 'string?' },
    },
    ['articles.author(authorId) -> authors.articles', 'comments.article(articleId) -> articles.comments'],
  )
  return { shop, db: clientOf(shop) }
}

/** The client of somebody in the workspace, of its administrator where nobody is named. */
export function clientOf(
  shop: Workspace,
  options: Partial<Parameters<typeof createClient>[1]> = {
    headers: { Authorization: `Bearer ${world.administrator.token}` },
  },
): Client<Schema> {
  return createClient<Schema>(world.url, { workspace: shop.name, ...options })
}
