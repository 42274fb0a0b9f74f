/** The sample of the set-up: a small library, made by the model file and one batch of rows. */
import { schema } from 'governed-data-client/system'
import { clientOf } from './client.ts'

const model = {
  version: 1,
  collections: {
    authors: { fields: { id: 'int64 auto', name: 'string', country: 'string?', born: 'int32?' } },
    books: {
      fields: {
        id: 'int64 auto',
        title: 'string',
        author: { to: 'authors' },
        authorId: { type: 'int64', dbName: 'author_id' },
        publishedOn: { type: 'date?', dbName: 'published_on' },
        pages: 'int32?',
        price: 'decimal(10,2)?',
        isAvailable: { type: 'boolean', dbName: 'is_available', default: true },
      },
    },
    loans: {
      fields: {
        id: 'int64 auto',
        book: { to: 'books' },
        bookId: { type: 'int64', dbName: 'book_id' },
        reader: 'string',
        lentAt: { type: 'dateTime', dbName: 'lent_at' },
        returnedAt: { type: 'dateTime?', dbName: 'returned_at' },
      },
    },
  },
}

const authors = [
  { name: 'Jane Austen', country: 'England', born: 1775 },
  { name: 'طه حسين', country: 'مصر', born: 1889 },
  { name: 'Jorge Luis Borges', country: 'Argentina', born: 1899 },
  { name: 'Ursula K. Le Guin', country: 'United States', born: 1929 },
]

/** `author` is the place in `authors`. */
const books = [
  { author: 0, title: 'Pride and Prejudice', publishedOn: '1813-01-28', pages: 432, price: '9.90' },
  { author: 0, title: 'Emma', publishedOn: '1815-12-23', pages: 474, price: '8.50' },
  { author: 1, title: 'الأيام', publishedOn: '1929-01-01', pages: 360, price: '12.00' },
  { author: 2, title: 'Ficciones', publishedOn: '1944-01-01', pages: 174, price: '11.25' },
  { author: 2, title: 'El Aleph', publishedOn: '1949-06-26', pages: 157, price: null },
  { author: 3, title: 'The Left Hand of Darkness', publishedOn: '1969-03-01', pages: 304, price: '14.95' },
  { author: 3, title: 'The Dispossessed', publishedOn: '1974-05-01', pages: 341, price: '13.00' },
]

type Made = { readonly data: readonly { readonly id: string }[] }

/** Throws a `ServiceError`; what was done before stays and is seen in the workspace. */
export async function addSample(workspace: string): Promise<void> {
  const db = clientOf(workspace)
  const plan = await schema(db).plan(model).orThrow()
  await schema(db).apply(model, plan).orThrow()
  const create = (collection: string, body: readonly object[]) =>
    db.$request<Made>('POST', `items/${collection}`, { body, query: { fields: 'id' } }).orThrow()
  const { data: madeAuthors } = await create('authors', authors)
  const written = books.map(({ author, ...book }) => ({ ...book, authorId: madeAuthors[author]?.id }))
  const { data: madeBooks } = await create('books', written)
  await create('loans', [
    { bookId: madeBooks[0]?.id, reader: 'Mira', lentAt: '2026-09-01T10:00:00', returnedAt: '2026-09-20T16:30:00' },
    { bookId: madeBooks[3]?.id, reader: 'Sami', lentAt: '2026-10-12T08:15:00', returnedAt: null },
  ])
}
