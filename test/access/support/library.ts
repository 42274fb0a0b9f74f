/**
 * The tables of the access tests: small, related both ways, with fields for every variable of a policy. The naive rules
 * read this description by themselves, so that they know nothing of how the core resolves a model.
 */

import fc, { type Arbitrary } from 'fast-check'
import type { TypeName } from '../../../src/core/model/field-type.ts'
import type { Model } from '../../../src/core/model/model.ts'
import { type Inside, insideOfJson } from '../../property/support/inside.ts'
import type { Stock } from '../../property/support/request.ts'
import type { Operand, Row, Rows } from '../../property/support/rows.ts'
import { fieldOf, type Relation, type Shop, type TypeText } from '../../property/support/shop.ts'
import { build } from '../../support/data/build.ts'
import { type Side, withManyToMany } from '../../support/data/many-to-many.ts'

export const collections = {
  people: { id: 'int32', name: 'string?', team: 'string?', userId: 'uuid?', since: 'date?' },
  posts: { id: 'int32', title: 'string?', status: 'string', score: 'int32?', authorId: 'int32?' },
  notes: { id: 'int32', text: 'string?', kind: 'string', details: 'json?', postId: 'int32?' },
  badges: { id: 'int32', label: 'string', personId: 'int32' },
  likes: { personId: 'int32', postId: 'int32', mark: 'string?' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

export type Name = keyof typeof collections
export const names = Object.keys(collections) as Name[]

/** Its key is both of its references. */
export const junction = { name: 'likes', key: ['personId', 'postId'] } as const satisfies {
  readonly name: Name
  readonly key: readonly string[]
}

/** A foreign key: `column` of `child` refers to the id of `parent`. */
export type Link = {
  readonly child: Name
  readonly name: string
  readonly column: string
  readonly parent: Name
  readonly opposite: string
}

export const links: readonly Link[] = [
  { child: 'posts', name: 'author', column: 'authorId', parent: 'people', opposite: 'posts' },
  { child: 'notes', name: 'post', column: 'postId', parent: 'posts', opposite: 'notes' },
  { child: 'badges', name: 'person', column: 'personId', parent: 'people', opposite: 'badges' },
  { child: 'likes', name: 'person', column: 'personId', parent: 'people', opposite: 'likes' },
  { child: 'likes', name: 'post', column: 'postId', parent: 'posts', opposite: 'likes' },
]

/** A many-to-many field: `near` leads to the junction, and `far` on to the other side. */
export type Way = { readonly of: Name; readonly name: string; readonly near: Link; readonly far: Link }

const [liker, liked] = links.filter(({ child }) => child === junction.name) as [Link, Link]
export const ways: readonly [Way, Way] = [
  { of: 'people', name: 'favorites', near: liker, far: liked },
  { of: 'posts', name: 'fans', near: liked, far: liker },
]

export const model: Model = withManyToMany(
  build.model(
    collections,
    links.map(({ child, name, column, parent, opposite }) => `${child}.${name}(${column}) -> ${parent}.${opposite}`),
  ),
  { junction: junction.name, sides: [sideOf(ways[0]), sideOf(ways[1])], key: junction.key },
)

function sideOf({ of, name, near }: Way): Side {
  return { of, name, near: near.opposite, back: near.name }
}

/** Asked for thousands of times in one case, and always the same. */
const fields = ofEach(makeFields)
const relations = ofEach(makeRelations)
const members = ofEach((name) => [...fields[name].keys(), ...relations[name].keys()])

function ofEach<T>(make: (name: Name) => T): Readonly<Record<Name, T>> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>
}

export const shop: Shop = {
  collections,
  links: links.map(({ column, ...link }) => ({ ...link, columns: [column] })),
  fields: new Map(names.map((name) => [name, fields[name]])),
  relations: new Map(names.map((name) => [name, relations[name]])),
}

function makeFields(collection: Name): ReadonlyMap<string, TypeText> {
  const entries = Object.entries<string>(collections[collection]).map(([name, text]) => {
    const type: TypeText = {
      name: text.replace('?', '') as TypeName,
      sizes: [],
      isList: false,
      isNullable: text.endsWith('?'),
    }
    return [name, type] as const
  })
  return new Map(entries)
}

function makeRelations(collection: Name): ReadonlyMap<string, Relation> {
  const forward = links
    .filter(({ child }) => child === collection)
    .map(({ name, column, parent }): [string, Relation] => {
      const isNullable = fields[collection].get(column)?.isNullable === true
      return [name, { target: parent, pairs: [[column, 'id']], isList: false, isNullable }]
    })
  const backward = links
    .filter(({ parent }) => parent === collection)
    .map(({ opposite, column, child }): [string, Relation] => {
      return [opposite, { target: child, pairs: [['id', column]], isList: true, isNullable: true }]
    })
  const through = ways
    .filter(({ of }) => of === collection)
    .map(({ name, far }): [string, Relation] => [
      name,
      { target: far.parent, pairs: [], isList: true, isNullable: true },
    ])
  return new Map([...forward, ...backward, ...through])
}

/** All members of a body or a policy's `fields`. */
export function membersOf(collection: Name): readonly string[] {
  return members[collection]
}

/** They differ in their last digits only, so that every database orders them alike. */
export const users = ['1', '2', '3'].map((digit) => `11111111-2222-4333-8444-55555555555${digit}`)
export const roles = ['1', '2', '3'].map((digit) => `99999999-2222-4333-8444-55555555555${digit}`)
export const now = Date.UTC(2026, 1, 3, 4, 5, 6)

const details = {
  text: 'a',
  list: ['a'],
  none: {},
  nobody: { by: null },
  user: { by: users[0], tags: ['a', 'b'] },
  other: { by: 'x', tags: [] },
}
const { text, list, none, nobody, user, other } = details

/** As each database sorts them: PostgreSQL by kind and size first, MariaDB as texts. */
export const sortedDetails: Readonly<Record<string, readonly unknown[]>> = {
  PostgreSQL: [text, list, none, nobody, user, other],
  MariaDB: [text, list, user, other, nobody, none],
}

const texts = ['a', 'A', 'ab', '', '%', 'ä', 'b c']
const pools: Readonly<Record<string, readonly unknown[]>> = {
  'people.name': texts,
  'people.team': [...roles.slice(0, 2), 'red'],
  'people.userId': users,
  'people.since': ['2026-01-20', '2026-02-02', '2026-02-03', '2026-02-04'],
  'posts.title': texts,
  'posts.status': ['draft', 'live'],
  'posts.score': [-1, 0, 1, 2],
  'notes.text': texts,
  'notes.kind': ['x', 'y'],
  'notes.details': Object.values(details),
  'badges.label': ['gold', 'Gold', ''],
  'likes.mark': ['up', 'down'],
}

/** Of keys and references: mostly such as exist. */
const ids = [1, 2, 3, 4, 5]

export function valuesOf(collection: Name, field: string): readonly unknown[] {
  return pools[`${collection}.${field}`] ?? ids
}

export function anyValue(collection: Name, field: string): Arbitrary<unknown> {
  const value = fc.constantFrom(...valuesOf(collection, field))
  return fields[collection].get(field)?.isNullable === true ? fc.option(value, { nil: null, freq: 4 }) : value
}

export function stockOf(of: Shop): Stock {
  return {
    shop: of,
    unsorted: ['json'],
    operands(collection, field) {
      const whole = valuesOf(collection as Name, field).map(operand)
      const parts = ['', 'a', 'A', '%', 'live', 'old'].map(operand)
      const isJson = fieldOf(of, collection, field)?.name === 'json'
      return { whole, parts, ascii: parts, ...(isJson && { inside: insideOf(collection as Name, field) }) }
    },
  }
}

const insides = new Map<string, Inside>()

/** Drawn once: each case has a stock of its own. */
function insideOf(collection: Name, field: string): Inside {
  const place = `${collection}.${field}`
  const inside = insides.get(place) ?? insideOfJson(valuesOf(collection, field), 1)
  insides.set(place, inside)
  return inside
}

function operand(value: unknown): Operand {
  return { value, sent: value, text: typeof value === 'object' ? JSON.stringify(value) : String(value) }
}

export const anyRows: Arbitrary<Rows> = anyTable('people', []).chain((people) =>
  anyTable('posts', people).chain((posts) =>
    fc
      .tuple(
        anyTable('notes', posts),
        people.length === 0 ? fc.constant([]) : anyTable('badges', people),
        anyLikes(people, posts),
      )
      .map(([notes, badges, likes]) => ({ people, posts, notes, badges, likes })),
  ),
)

/** Rows whose reference is to one of `parents`. */
function anyTable(collection: Name, parents: readonly Row[]): Arbitrary<readonly Row[]> {
  const reference = links.find(({ child }) => child === collection)?.column
  const values = [...fields[collection]].map(([name, { isNullable }]) => {
    if (name !== reference) return [name, anyValue(collection, name)] as const
    const existing = parents.length === 0 ? fc.constant(null) : fc.constantFrom(...parents.map(({ id }) => id))
    return [name, isNullable ? fc.option(existing, { nil: null, freq: 4 }) : existing] as const
  })
  return fc.uniqueArray(fc.record(Object.fromEntries(values)), { minLength: 1, maxLength: 5, selector: ({ id }) => id })
}

function anyLikes(people: readonly Row[], posts: readonly Row[]): Arbitrary<readonly Row[]> {
  const [personId, postId] = [people, posts].map((rows) => fc.constantFrom(...rows.map(({ id }) => id)))
  const like = fc.record({ personId, postId, mark: anyValue('likes', 'mark') } as Record<string, Arbitrary<unknown>>)
  return fc.uniqueArray(
    like.map((row) => identified('likes', row)),
    { maxLength: 6, selector: ({ id }) => id },
  )
}

/** The row with a member `id` that tells it apart, where that is no column of the table. */
export function identified(collection: Name, row: Row): Row {
  if (collection !== junction.name) return row
  return { ...row, id: Number(row.personId) * KEYS + Number(row.postId) }
}

/** The columns by which somebody names the row with this `id`. */
export function keyOf(collection: Name, id: number): Row {
  return collection === junction.name ? { personId: Math.floor(id / KEYS), postId: id % KEYS } : { id }
}

/** More than any key of people or posts. */
const KEYS = 10_000
