import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type BracketNode,
  type BracketTree,
  MAX_QUERY_LENGTH,
  parseBrackets,
} from '../../../src/core/query/brackets.ts'
import { anyCharacter } from '../../support/data/characters.ts'
import { casesOr } from '../../support/run/cases.ts'
import { minimumWork } from '../../support/run/work.ts'
import { outcome } from './outcome.ts'

const token = fc.constantFrom(
  ...['[', ']', '[]', '&', '=', '%', '+', '%5B', '%5D', '%ZZ', '%C3', '%A9', '\ud800', '.', '?', ' ', '😀'],
  ...['a', 'b', '0', '1', '[0]', '[1]', '[a]', '1999', '2000', '9999999999', '__proto__', 'constructor', 'a[0]=x&'],
)
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.array(token, { maxLength: 200 }).map((tokens) => tokens.join('')),
  fc.tuple(token, token, fc.nat(MAX_QUERY_LENGTH)).map(([one, other, count]) => (one + other).repeat(count)),
)

const reserved = /[[\]]|^(?:\d+|__proto__)$/
const text = fc.string({ unit: anyCharacter, maxLength: 12 })
const key = fc.oneof(text, fc.constantFrom('toString', '_in', 'a.b', 'a&b=c', '%41', '-1', '1a')).filter(isKey)
const { tree } = fc.letrec<{ node: BracketNode; tree: BracketTree }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    text,
    fc.array(text, { minLength: 1, maxLength: 12 }),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    tie('tree'),
  ),
  tree: fc.dictionary(key, tie('node'), { minKeys: 1, maxKeys: 4 }),
}))

it('answers any text with a tree or a ServiceError of one of two kinds, and soon', () => {
  // The longest query that can be read. A single look at another may be lengthened by a collection of garbage.
  const most = 1_000 * minimumWork(() => outcome('&'.repeat(MAX_QUERY_LENGTH)))

  return fc.assert(
    fc.property(anyText, (search) => {
      const start = process.cpuUsage()

      expect(outcome(search)).toMatch(/^(?:read|badRequest|invalid)$/)

      expect(process.cpuUsage(start).user / 1_000).toBeLessThan(most)
    }),
    { numRuns: casesOr(2_000) },
  )
})

it('reads back every tree that is printed with indexes, in any order of its parameters', () => {
  const printed = tree.chain((value) => fc.tuple(fc.constant(value), shuffled(print(value, (index) => `[${index}]`))))

  return fc.assert(
    fc.property(printed, ([value, parameters]) => {
      expect(parseBrackets(parameters.join('&'))).toEqual(value)
    }),
  )
})

it('reads back every tree of flat arrays that is printed with pushes and encoded brackets', () => {
  const flat = fc.dictionary(
    key,
    fc.oneof(text, fc.array(text, { minLength: 1 }), fc.dictionary(key, text, { minKeys: 1 })),
  )

  return fc.assert(
    fc.property(flat, (value) => {
      const search = print(value, () => '[]')
        .join('&')
        .replaceAll('[', '%5B')
        .replaceAll(']', '%5d')

      expect(parseBrackets(`?${search}`)).toEqual(value)
    }),
  )
})

it('never gives an object with a prototype', () =>
  fc.assert(
    fc.property(tree, (value) => {
      const parsed = parseBrackets(print(value, (index) => `[${index}]`).join('&'))

      expect(objectsIn(parsed).map((object) => Object.getPrototypeOf(object))).toSatisfy(onlyNull)
    }),
  ))

it('refuses a parameter given twice, whatever it is called', () =>
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), text, text, ([name = '', ...keys], one, other) => {
      const place = encodeURIComponent(name) + keys.map((each) => `[${encodeURIComponent(each)}]`).join('')

      expect(outcome(`${place}=${encodeURIComponent(one)}&${place}=${encodeURIComponent(other)}`)).toBe('invalid')
    }),
  ))

function isKey(name: string): boolean {
  return name !== '' && !reserved.test(name)
}

function print(value: BracketTree, element: (index: number) => string): string[] {
  return Object.entries(value).flatMap(([name, child]) => printAt(child, encodeURIComponent(name), element))
}

function printAt(node: BracketNode, place: string, element: (index: number) => string): string[] {
  if (typeof node !== 'object') return [`${place}=${encodeURIComponent(String(node))}`]
  if (isArray(node)) return node.flatMap((child, index) => printAt(child, place + element(index), element))
  return Object.entries(node).flatMap(([name, child]) =>
    printAt(child, `${place}[${encodeURIComponent(name)}]`, element),
  )
}

function shuffled(parameters: readonly string[]): fc.Arbitrary<string[]> {
  return fc.shuffledSubarray([...parameters], { minLength: parameters.length })
}

function objectsIn(node: BracketNode): object[] {
  if (typeof node !== 'object') return []
  if (isArray(node)) return node.flatMap(objectsIn)
  return [node, ...Object.values(node).flatMap(objectsIn)]
}

function onlyNull(prototypes: readonly unknown[]): boolean {
  return prototypes.every((prototype) => prototype === null)
}

// Array.isArray does not narrow a readonly array.
function isArray(node: readonly BracketNode[] | BracketTree): node is readonly BracketNode[] {
  return Array.isArray(node)
}
