/** Items are cut into the texts of their members as `parseJson` reads them, and none of their numbers is read. */
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseJson } from '../../src/core/exact-json.ts'
import { elementsOf, itemText, listText, membersOf } from '../../src/core/json-cut.ts'
import type { SplitSelection } from '../../src/core/plan/relations.ts'
import { withoutKeys } from '../../src/services/data/once/reread.ts'
import { onlyItem } from '../../src/services/data/only-item.ts'
import { answerRoom } from '../../src/sources/answer-room.ts'
import { complete } from '../../src/sources/cross-source/look-up.ts'
import { casesOr } from '../support/run/cases.ts'
import { articles } from './plan/blog.ts'

const space = fc.constantFrom('', ' ', '\n', '\t ', '\r')
const scalar = fc.oneof(
  fc.constantFrom('0', '-1.50', '1E+2', 'true', 'null', '"\\\\"', '"\\""', '"a\\\\\\"b"', '"]},{"', '"\\u0041"'),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
)
const spaced = (text: fc.Arbitrary<string>) => fc.tuple(space, text, space).map((parts) => parts.join(''))
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, listOf(tie('value')), objectOf(tie('value'))),
}))

function listOf(one: fc.Arbitrary<string>) {
  return fc.tuple(space, fc.array(spaced(one), { maxLength: 4 })).map(([blank, list]) => `[${blank}${list.join()}]`)
}

function objectOf(one: fc.Arbitrary<string>) {
  const name = fc.oneof(fc.constantFrom('__proto__', '', '"', '\\', ':', 'é'), fc.string({ maxLength: 3 }))
  const member = fc.tuple(spaced(name.map((text) => JSON.stringify(text))), spaced(one)).map((parts) => parts.join(':'))
  return fc.tuple(space, fc.array(member, { maxLength: 4 })).map(([blank, list]) => `{${blank}${list.join()}}`)
}

const rounds = { numRuns: casesOr(5_000) }

it('a list is cut into its elements', () => {
  fc.assert(
    fc.property(spaced(listOf(value)), (text) => {
      expect(elementsOf(text).map((one) => parseJson(one))).toEqual(parseJson(text))
      expect(parseJson(listText(elementsOf(text)))).toEqual(parseJson(text))
    }),
    rounds,
  )
})

it('an item is cut into its members', () => {
  fc.assert(
    fc.property(spaced(objectOf(value)), (text) => {
      const members = membersOf(text)

      expect([...members].map(([name, one]) => [name, parseJson(one)])).toEqual(
        [...members.keys()].map((name) => [name, (parseJson(text) as Record<string, unknown>)[name]]),
      )
      expect(new Set(members.keys())).toEqual(new Set(Object.keys(parseJson(text) as object)))
      expect(parseJson(itemText(members))).toEqual(parseJson(text))
    }),
    rounds,
  )
})

it.each(['[1,2}', '[,1]', '[{"a":1}}]', '[1', '[{"a":[1', '{"a":[1,2}', '{"a"', '', 'x'])(
  'ends with %s, too',
  (text) => {
    for (const cut of [elementsOf, membersOf]) {
      try {
        cut(text)
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
      }
    }
  },
)

describe('no number is made an object', () => {
  const numbers = `[${'1.0,'.repeat(50)}1.50]`
  const item = `{"n": ${numbers}, "_key0": 7}`

  afterEach(() => {
    vi.restoreAllMocks()
  })

  const read = <T>(act: () => T): T => {
    const made = vi.spyOn(JSON, 'rawJSON' as never)
    const result = act()
    expect(made).not.toHaveBeenCalled()
    return result
  }

  it('of the item that is answered', () => {
    expect(read(() => onlyItem(`[${item},{"n":2}]`))).toBe(item)
  })

  it('of items whose keys are kept', () => {
    expect(read(() => withoutKeys(articles, `[${item}]`))).toEqual({
      items: `[{"n":${numbers}}]`,
      keys: '[{"_key0":7}]',
    })
  })

  it('of rows to which others are added', async () => {
    const split: SplitSelection = {
      local: [],
      isWhole: false,
      parts: [
        { kind: 'own', name: 'n' },
        {
          kind: 'within',
          name: 'near',
          isList: true,
          split: { local: [], isWhole: false, parts: [{ kind: 'own', name: 'n' }] },
        },
      ],
    }
    const run = { open: () => expect.unreachable(), bindings: undefined as never, options: {}, room: answerRoom() }
    const rows = [membersOf(`{"near":{"data":[${item}]},"n":${numbers}}`)]

    expect(await read(() => complete(rows, split, run))).toEqual([
      `{"n":${numbers},"near":{"data":[{"n":${numbers}}]}}`,
    ])
  })
})
