/** As the generator writes it. */
export interface Schema {
  articles: {
    key: string
    keyFields: 'id'
    read: {
      id: string
      title: string
      status: 'draft' | 'published'
      words: string[] | null
      rating: number | null
      details: unknown
      price: string | null
      isOpen: boolean
      authorId: string | null
    }
    create: {
      id?: string | number | bigint
      title: string
      status?: 'draft' | 'published'
      words?: string[] | null
      rating?: number | null
      details?: unknown
      price?: string | number | bigint | null
      isOpen: boolean
      authorId?: string | null
    }
    update: {
      id?: string | number | bigint
      title?: string
      status?: 'draft' | 'published'
      words?: string[] | null
      rating?: number | null
      details?: unknown
      price?: string | number | bigint | null
      isOpen?: boolean
      authorId?: string | null
    }
    one: { author: { to: 'authors'; by: 'authorId'; null: true } }
    many: { comments: 'comments'; tags: 'tags' }
    unique: 'title'
    floats: 'rating'
  }
  authors: {
    key: string
    keyFields: 'id'
    read: { id: string; name: string; born: string | null }
    create: { id?: string; name: string; born?: string | null }
    update: { id?: string; name?: string; born?: string | null }
    one: { profile: { to: 'profiles'; null: true } }
    many: { articles: 'articles' }
  }
  profiles: {
    key: string
    keyFields: 'authorId'
    read: { authorId: string; isPublic: boolean }
    create: { authorId: string; isPublic: boolean }
    update: { authorId?: string; isPublic?: boolean }
    one: { author: { to: 'authors'; by: 'authorId' } }
  }
  comments: {
    key: string
    keyFields: 'id'
    read: { id: string; text: string; articleId: string }
    create: { id?: string | number | bigint; text: string; articleId: string | number | bigint }
    update: { id?: string | number | bigint; text?: string; articleId?: string | number | bigint }
    one: { article: { to: 'articles'; by: 'articleId' } }
  }
  tags: {
    key: number
    keyFields: 'id'
    read: { id: number; name: string }
    create: { id?: number; name: string }
    update: { id?: number; name?: string }
    many: { articles: 'articles' }
    unique: 'name'
  }
  lines: {
    key: [order: string, line: number]
    keyFields: 'order' | 'line'
    read: { order: string; line: number; total: string; productId: number }
    create: {
      order: string | number | bigint
      line: number
      total: string | number | bigint
      productId: number
    }
    update: { order?: string | number | bigint; line?: number; total?: string | number | bigint; productId?: number }
    unique: readonly ['order', 'productId']
  }
  shipments: {
    key: number
    keyFields: 'id'
    read: { id: number; order: string; line: number }
    create: { id: number; order: string | number | bigint; line: number }
    update: { id?: number; order?: string | number | bigint; line?: number }
    one: { position: { to: 'lines'; by: 'order' | 'line' } }
  }
  sales: { read: { month: string; total: string } }
  then: { key: number; keyFields: 'id'; read: { id: number }; create: { id: number }; update: { id?: number } }
}
