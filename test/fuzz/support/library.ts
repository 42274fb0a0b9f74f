/** What the fuzzed requests are sent to: every type that Postgres stores, and relations of every kind. */
import type { Drawing } from '../../support/data/model-sketch.ts'

const types = ['int16', 'int32', 'int64', 'float32', 'float64', 'decimal', 'decimal(12,4)', 'string', 'string(20)']
const others = ['uuid', 'boolean', 'date', 'time', 'dateTime', 'dateTimeWithTimezone', 'json', 'bytes']
const all = [...types, ...others]

export const library: Drawing = {
  collections: {
    things: {
      id: 'int64 = counted',
      authorId: 'int64?',
      name: 'string = unnamed',
      changedAt: 'dateTimeWithTimezone = now',
      ref: 'uuid = uuid',
      ...Object.fromEntries(all.flatMap((type) => columns(type))),
    },
    authors: { id: 'int64 = counted', name: 'string', email: 'string(80)?', mentorId: 'int64?', born: 'date?' },
    books: { id: 'uuid = uuid', title: 'string(80)', authorId: 'int64', editorId: 'int64?', price: 'decimal(12,4)?' },
    details: { bookId: 'uuid', summary: 'string?', data: 'json?' },
    covers: { id: 'int32 = counted', bookId: 'uuid?', image: 'bytes?' },
    tags: { code: 'string(10)', lang: 'string(5)', label: 'string?' },
    bookTags: { id: 'int64 = counted', bookId: 'uuid?', tagCode: 'string(10)?', tagLang: 'string(5)?', rank: 'int32?' },
    marks: { id: 'int64 = counted' },
    words: { word: 'string', meaning: 'string?' },
    days: { day: 'date', weight: 'float64?' },
    logs: { authorId: 'int64?', text: 'string?', at: 'dateTime?' },
  },
  keys: {
    authors: [
      ['primary', 'id'],
      ['unique', 'email'],
    ],
    covers: [
      ['primary', 'id'],
      ['unique', 'bookId'],
    ],
    tags: [['primary', 'code', 'lang']],
    logs: [],
  },
  relations: [
    'things.author(authorId) -> authors.things',
    'authors.mentor(mentorId) -> authors.students',
    'books.author(authorId) -> authors.books',
    'books.editor(editorId) -> authors.edited',
    'details.book(bookId) -> books.detail?',
    'covers.book(bookId) -> books.cover?',
    'bookTags.book(bookId) -> books.bookTags',
    'bookTags.tag(tagCode, tagLang) -> tags.bookTags',
    'logs.author(authorId) -> authors.logs',
  ],
}

/** Rights of a member for whom every collection has rows and fields that are hidden or may not be written. */
export const restrictions = [
  {
    entitlements: ['dataModel:read'],
    collections: {
      things: {
        read: { filter: { _not: { author: { name: { _eq: 'Ben' } } } } },
        create: { validation: { int32Value: { _neq: 1 } } },
        update: { fields: '*', filter: { name: { _neq: 'a' } }, validation: { author: { books: { _some: {} } } } },
        delete: { filter: { booleanValue: { _eq: true } } },
      },
      authors: {
        read: { fields: ['id', 'name', 'mentorId', 'mentor', 'students', 'books', 'things', 'logs'] },
        create: { fields: ['name', 'books', 'students'], validation: { name: { _neq: 'null' } } },
        update: { filter: { _or: [{ email: { _null: false } }, { students: { _none: { name: { _eq: 'a' } } } }] } },
        delete: { filter: { books: { _none: {} } } },
      },
      books: {
        read: { filter: { author: { name: { _neq: '' } } } },
        create: 'all',
        update: { filter: { detail: { summary: { _neq: 'a' } } }, validation: { price: { _gte: '0' } } },
        delete: { filter: { title: { _starts_with: 'N' } } },
      },
      details: { read: 'all', create: 'all', update: { fields: ['summary'] }, delete: 'all' },
      covers: {
        read: { fields: ['id', 'book'] },
        create: { fields: '*' },
        update: { validation: { bookId: { _null: false } } },
      },
      tags: { read: { filter: { label: { _null: true } } }, create: 'all', update: 'all' },
      bookTags: { read: { filter: { rank: { _gt: 0 } } }, update: { fields: ['rank', 'tag'] }, delete: {} },
      days: { read: { filter: { day: { _lte: '$NOW' } } }, create: { validation: { day: { _lt: '$NOW(+7 days)' } } } },
      logs: { read: 'all', create: 'all', update: 'all', delete: 'all' },
    },
  },
  {
    collections: {
      authors: { read: { fields: '*', filter: { name: { _eq: 'Ada' } } } },
      things: {
        read: { fields: ['id', 'stringValue'], filter: { id: { _lt: 3 } } },
        update: { fields: ['stringValue'] },
      },
      books: { read: { filter: { id: { _neq: '00000000-0000-0000-0000-000000000001' } }, fields: ['id', 'price'] } },
      bookTags: { read: { fields: ['id', 'book'] }, create: { validation: { rank: { _neq: 1 } } } },
      words: { read: { filter: { word: { _neq: '$CURRENT_USER' } } } },
    },
  },
]

function columns(type: string): readonly (readonly [string, string])[] {
  const name = type.replace(/\W+/g, '_').replace(/_$/, '')
  return [
    [`${name}Value`, `${type}?`],
    [`${name}List`, `${type}[]?`],
  ]
}
