/**
 * The tables of the access tests: small, related both ways, with fields for every variable of a policy. The naive rules
 * read this description by themselves, so that they know nothing of how the core resolves a model.
 */

import fc, { type Arbitrary } from 'fast-check'
import type { TypeName } from '../../../src/core/model/field-type.ts'
import type { Model } from '../../../src/core/model/model.ts'
import type { Stock } from '../../property/support/request.ts'
import type { Operand, Row, Rows } from '../../property/support/rows.ts'
import type { Relation, Shop, TypeText } from '../../property/support/shop.ts'
import { build } from '../../support/data/build.ts'

export const collections = {
  people: { id: 'int32', name: 'string?', team: 'string?', userId: 'uuid?', since: 'date?' },
  posts: { id: 'int32', title: 'string?', status: 'string', score: 'int32?', authorId: 'int32?' },
  notes: { id: 'int32', text: 'string?', kind: 'string', postId: 'int32?' },
  badges: { id: 'int32', label: 'string', personId: 'int32' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

export type Name = keyof typeof collections
export const names = Object.keys(collections) as Name[]

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
]

export const model: Model = build.model(
  collections,
  links.map(({ child, name, column, parent, opposite }) => `${child}.${name}(${column}) -> ${parent}.${opposite}`),
)

export const shop: Shop = {
  collections,
  links: links.map(({ column, ...link }) => ({ ...link, columns: [column] })),
  fields: new Map(names.map((name) => [name, fieldsOf(name)])),
  relations: new Map(names.map((name) => [name, relationsOf(name)])),
}

function fieldsOf(collection: Name): ReadonlyMap<string, TypeText> {
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

function relationsOf(collection: Name): ReadonlyMap<string, Relation> {
  const forward = links
    .filter(({ child }) => child === collection)
    .map(({ name, column, parent }): [string, Relation] => {
      const isNullable = fieldsOf(collection).get(column)?.isNullable === true
      return [name, { target: parent, pairs: [[column, 'id']], isList: false, isNullable }]
    })
  const backward = links
    .filter(({ parent }) => parent === collection)
    .map(({ opposite, column, child }): [string, Relation] => {
      return [opposite, { target: child, pairs: [['id', column]], isList: true, isNullable: true }]
    })
  return new Map([...forward, ...backward])
}

/** All members of a body or a policy's `fields`. */
export function membersOf(collection: Name): readonly string[] {
  return [...fieldsOf(collection).keys(), ...relationsOf(collection).keys()]
}

/** They differ in their last digits only, so that every database orders them alike. */
export const users = ['1', '2', '3'].map((digit) => `11111111-2222-4333-8444-55555555555${digit}`)
export const roles = ['1', '2', '3'].map((digit) => `99999999-2222-4333-8444-55555555555${digit}`)
export const now = Date.UTC(2026, 1, 3, 4, 5, 6)

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
  'badges.label': ['gold', 'Gold', ''],
}

/** Of keys and references: mostly such as exist. */
const ids = [1, 2, 3, 4, 5]

export function valuesOf(collection: Name, field: string): readonly unknown[] {
  return pools[`${collection}.${field}`] ?? ids
}

export function anyValue(collection: Name, field: string): Arbitrary<unknown> {
  const value = fc.constantFrom(...valuesOf(collection, field))
  return fieldsOf(collection).get(field)?.isNullable === true ? fc.option(value, { nil: null, freq: 4 }) : value
}

export function stockOf(of: Shop): Stock {
  return {
    shop: of,
    unsorted: [],
    operands(collection, field) {
      const whole = valuesOf(collection as Name, field).map(operand)
      const parts = ['', 'a', 'A', '%', 'live', 'old'].map(operand)
      return { whole, parts, ascii: parts }
    },
  }
}

function operand(value: unknown): Operand {
  return { value, sent: value, text: String(value) }
}

export const anyRows: Arbitrary<Rows> = anyTable('people', []).chain((people) =>
  anyTable('posts', people).chain((posts) =>
    fc
      .tuple(anyTable('notes', posts), people.length === 0 ? fc.constant([]) : anyTable('badges', people))
      .map(([notes, badges]) => ({ people, posts, notes, badges })),
  ),
)

/** Rows whose reference is to one of `parents`. */
function anyTable(collection: Name, parents: readonly Row[]): Arbitrary<readonly Row[]> {
  const reference = links.find(({ child }) => child === collection)?.column
  const fields = [...fieldsOf(collection)].map(([name, { isNullable }]) => {
    if (name !== reference) return [name, anyValue(collection, name)] as const
    const existing = parents.length === 0 ? fc.constant(null) : fc.constantFrom(...parents.map(({ id }) => id))
    return [name, isNullable ? fc.option(existing, { nil: null, freq: 4 }) : existing] as const
  })
  return fc.uniqueArray(fc.record(Object.fromEntries(fields)), { minLength: 1, maxLength: 5, selector: ({ id }) => id })
}
