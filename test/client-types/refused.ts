/** What does not compile. Each line above a case is a part of what the compiler says of it. */
import { type Create, createClient, type Filter, type Sort, type Update } from '../../packages/client/src/index.ts'
import type { Schema } from './schema.ts'

const db = createClient<Schema>('http://127.0.0.1:8787', { workspace: 'demo' })
const taken = <T>(_: T) => {}
const create = taken<Create<Schema, 'articles'>>
const update = taken<Update<Schema, 'articles'>>
const filter = taken<Filter<Schema, 'articles'>>
const sort = taken<Sort<Schema, 'articles'>>
const rows = await db.articles.list({ fields: ['id', { author: ['name'] }, { tags: ['id'] }] }).orThrow()
const row = rows[0]

//= article
db.article.list()
//= titel
db.articles.list({ fields: ['titel'] })
//= nam
db.articles.list({ fields: [{ author: ['nam'] }] })
//= authr
db.articles.list({ fields: [{ authr: ['name'] }] })
//= authr
db.articles.list({ fields: [{ author: ['name'], authr: ['name'] }] })
//= author
db.articles.list({ fields: ['author'] })
//= author.name
db.articles.list({ fields: ['author.name'] })
//= title
db.articles.list({ fields: [{ title: ['x'] }] })
//= limt
db.articles.list({ limt: 3 })
//= limt
db.articles.list({ fields: ['id'], limt: 3 })
//= limt
db.articles.list({ fields: [{ comments: { fields: ['id'], limt: 3 } }] })
//= limit
db.articles.list({ fields: [{ author: { fields: ['name'], limit: 3 } }] })
//= aggregate
db.articles.list({ fields: [{ author: { fields: ['name'], aggregate: { n: { count: '*' } } } }] })
//= txt
db.articles.list({ fields: [{ comments: { aggregate: { n: { max: 'txt' } } } }] })
//= txt
db.articles.list({ fields: [{ comments: { fields: ['txt'] } }] })
//= tg
db.articles.list({ fields: [{ comments: { fields: [{ article: [{ tags: ['id'] }, { tg: ['id'] }] }] } }] })
//= string
db.articles.list({ limit: '3' })
//= number
db.articles.list({ fields: [7] })
//= total
db.articles.list({ meta: ['total'] })
//= signl
db.articles.list({ signl: undefined })
//= title
row?.title
//= undefined
rows[0].id
//= null
row?.author.name
//= born
row?.author?.born
//= length
row?.tags.length
//= name
row?.tags.data[0]?.name
//= number
db.articles.get(7)
//= string
db.tags.get('7')
//= number
db.lines.get(7)
//= string
db.lines.get(['1', '2'])
//= never
db.sales.get('1')
//= never
db.sales.create({ month: 'x', total: '1' })
//= No overload matches
db.sales.update('1', { month: 'x' })
//= filter
db.articles.get('7', { limit: 3 })
//= isOpen
create({ title: 'x' })
//= number
create({ title: 7, isOpen: true })
//= titel
create({ titel: 'x', title: 'x', isOpen: true })
//= deleted
create({ title: 'x', isOpen: true, status: 'deleted' })
//= authorId
create({ title: 'x', isOpen: true, authorId: '1', author: { _connect: { key: { id: '1' } } } })
//= name
create({ title: 'x', isOpen: true, author: { name: 'Ada' } })
//= name
create({ title: 'x', isOpen: true, author: { _create: { data: {} } } })
//= null
create({ title: 'x', isOpen: true, author: null })
//= _increment
create({ title: 'x', isOpen: true, rating: { _increment: 1 } })
//= data
create({ title: 'x', isOpen: true, author: { _update: { data: {} } } })
//= comments
create({ title: 'x', isOpen: true, comments: { _create: { data: [] } } })
//= _c
create({ title: 'x', isOpen: true, tags: [{ _create: { data: [] }, _connect: { keys: [] } }] })
//= articleId
taken<Create<Schema, 'comments'>>({ text: 'x' })
//= articleId
taken<Create<Schema, 'comments'>>({ text: 'x', articleId: 1, article: { _connect: { key: { id: 1 } } } })
//= line
taken<Create<Schema, 'shipments'>>({ id: 1, order: 1 })
//= line
taken<Create<Schema, 'shipments'>>({ id: 1, line: 2, position: { _connect: { key: { order: 1, line: 2 } } } })
//= line
taken<Create<Schema, 'shipments'>>({ id: 1, position: { _connect: { key: { order: 1 } } } })
//= titel
update({ titel: 'x' })
//= null
update({ title: null })
//= _increment
update({ title: { _increment: 1 } })
//= string
update({ rating: { _increment: 'x' } })
//= _append
update({ rating: { _append: [1] } })
//= number
update({ words: { _append: [1] } })
//= author
update({ author: { _update: { data: {} } } })
//= titel
filter({ titel: 'x' })
//= _contans
filter({ title: { _contans: 'x' } })
//= _contans
filter({ title: { _contains: 'x', _contans: 'x' } })
//= boolean
filter({ title: true })
//= null
filter({ title: null })
//= _null
filter({ title: { _null: true } })
//= deleted
filter({ status: 'deleted' })
//= _contains
filter({ rating: { _contains: '1' } })
//= _gt
filter({ isOpen: { _gt: true } })
//= [number, number]
filter({ rating: { _between: [1] } })
//= _some
filter({ author: { _some: { name: 'x' } } })
//= _any
filter({ comments: { _any: { text: 'x' } } })
//= number
filter({ words: { _has: 7 } })
//= title
filter({ _or: { title: 'x' } })
//= up
sort([{ title: 'up' }])
//= titel
sort([{ titel: 'asc' }])
//= comments
sort([{ comments: { text: 'asc' } }])
//= title
sort({ title: 'asc' })
//= isOpne
db.articles.update({ filter: { isOpne: true } }, { title: 'x' })
//= author
db.articles.update({ filter: { isOpen: true } }, { author: [{ _disconnect: {} }] })
//= No overload matches
db.articles.update({ max: 3 }, { title: 'x' })
//= string
db.tags.delete('7')
//= id
db.tags.delete({ id: 7 })
//= workspace
createClient<Schema>('http://127.0.0.1:8787', {})
//= titel
db.articles.aggregate({ aggregate: { n: { count: 'titel' } } })
//= cnt
db.articles.aggregate({ aggregate: { n: { cnt: '*' } } })
//= aggregate
db.articles.aggregate({ group: ['status'] })
//= statu
db.articles.aggregate({ aggregate: { n: { count: '*' } }, group: ['statu'] })
//= nam
db.articles.aggregate({ aggregate: { n: { count: '*' } }, group: [{ author: ['nam'] }] })
//= comments
db.articles.aggregate({ aggregate: { n: { count: '*' } }, group: [{ comments: ['text'] }] })
//= decade
db.articles.aggregate({ aggregate: { n: { count: '*' } }, group: [{ title: { trunc: 'decade' } }] })
//= m
db.articles.aggregate({ aggregate: { n: { count: '*' } }, sort: [{ m: 'asc' }] })
//= m
db.articles.aggregate({ aggregate: { n: { count: '*' } }, having: { m: 3 } })
//= number
db.$batch([7])
//= author
db.$batch([db.articles.list({ fields: ['author'] })])
//= rating
db.articles.upsert({ title: 'x', isOpen: true }, { on: ['rating'] })
//= on
db.articles.upsert({ title: 'x', isOpen: true }, {})
//= No overload matches
db.articles.upsert({ title: 'x', isOpen: true }, { on: ['id'], do: 'replace' })
//= line
db.lines.update([{ order: 1, total: 3 }])
//= title
db.articles.update([{ id: 1, titel: 'x' }])
//= before
db.articles.pages({ before: 'x' })
//= meta
db.articles.each({ meta: ['cursor'] })
//= totalCount
db.articles.list({ fields: [{ comments: { meta: ['totalCount'] } }] })
//= string
db.articles.list({ fields: [{ comments: { fields: ['id'], limit: '3' } }] })
//= number
db.articles.list({ fields: [{ comments: { fields: ['id'], filter: { text: 7 } } }] })
//= txt
db.articles.list({ fields: [{ comments: { fields: ['id'], filter: { txt: 'x' } } }] })
//= born
db.articles.list({ fields: [{ author: { fields: ['id'], filter: { born: 7 } } }] })
//= cursors
db.articles.list({ fields: [{ comments: { meta: ['cursors'] } }] })
//= string
db.articles.list({ fields: 'id' })
//= string
db.articles.list({ fields: ['id', 'title'] as string[] })
//= isPublic
db.articles.list({ fields: ['id', 'isPublic'] as ('id' | 'isPublic')[] })
//= length
db.articles.list({ fields: [{ length: ['id'] }] })
//= _tag
db.articles.get('7', { fields: ['_tag'] })
//= No overload matches
db.tags.delete(7, { fields: ['nam'] })
//= No overload matches
db.authors.update('7', { name: 'x' }, { fields: ['nam'] })
