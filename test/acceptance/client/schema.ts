/** Written by the types command out of the model; do not edit. */
export interface Schema {
  articles: {
    key: string
    keyFields: 'id'
    read: {
      id: string
      at: string | null
      authorId: string | null
      details: unknown
      likes: number | null
      price: string | null
      rating: number | null
      status: string | null
      title: string
      words: string[] | null
    }
    create: {
      id?: string | number | bigint
      at?: string | null
      authorId?: string | number | bigint | null
      details?: unknown
      likes?: number | null
      price?: string | number | bigint | null
      rating?: number | null
      status?: string | null
      title: string
      words?: string[] | null
    }
    update: {
      id?: string | number | bigint
      at?: string | null
      authorId?: string | number | bigint | null
      details?: unknown
      likes?: number | null
      price?: string | number | bigint | null
      rating?: number | null
      status?: string | null
      title?: string
      words?: string[] | null
    }
    one: {
      author: { to: 'authors'; by: 'authorId'; null: true }
    }
    many: {
      comments: 'comments'
    }
    floats: 'rating'
  }
  authors: {
    key: string
    keyFields: 'id'
    read: {
      id: string
      born: string | null
      name: string
    }
    create: {
      id?: string | number | bigint
      born?: string | null
      name: string
    }
    update: {
      id?: string | number | bigint
      born?: string | null
      name?: string
    }
    many: {
      articles: 'articles'
    }
  }
  comments: {
    key: string
    keyFields: 'id'
    read: {
      id: string
      articleId: string
      text: string
    }
    create: {
      id?: string | number | bigint
      articleId: string | number | bigint
      text: string
    }
    update: {
      id?: string | number | bigint
      articleId?: string | number | bigint
      text?: string
    }
    one: {
      article: { to: 'articles'; by: 'articleId' }
    }
  }
  notes: {
    key: string
    keyFields: 'id'
    read: {
      id: string
      text: string | null
    }
    create: {
      id: string
      text?: string | null
    }
    update: {
      id?: string
      text?: string | null
    }
  }
}
