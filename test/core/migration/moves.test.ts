/** What has moved to another name, by the ids of a database or by being the only one of its kind. */
import { describe, expect, it } from 'vitest'
import { findMoves } from '../../../src/core/migration/moves.ts'

/** `name#id:kind`, where id and kind may be missing. */
function read(text: string) {
  const [, name = '', id, kind = ''] = /^(\w+)(?:#(\d+))?(?::(\w+))?$/.exec(text) ?? []
  return { name, dbId: id, kind }
}

function moves(known: string, found: string): readonly string[] {
  const split = (text: string) =>
    text
      .split(' ')
      .filter((part) => part !== '')
      .map(read)
  return findMoves({
    known: split(known).map((one) => ({ record: one, name: one.name, dbId: one.dbId })),
    found: split(found).map((one) => ({ item: one, name: one.name, dbId: one.dbId })),
    kindOf: ({ kind }) => kind,
    kindOfFound: ({ kind }) => kind,
  }).map((move) =>
    move.kind === 'replaced'
      ? `${move.record.name} is replaced`
      : `${move.record.name} ${move.certain ? '->' : '~>'} ${move.item.name}`,
  )
}

describe('a move', () => {
  it.each([
    ['nothing', 'a#1 b#2', 'a#1 b#2', []],
    ['a rename that the ids prove', 'a#1 b#2', 'c#1 b#2', ['a -> c']],
    ['a swap', 'a#1 b#2', 'a#2 b#1', ['a -> b', 'b -> a']],
    ['a name taken over from something dropped', 'a#1 b#2', 'a#2', ['a is replaced', 'b -> a']],
    ['a rename whose old name is used again', 'a#1', 'a_old#1 a#7', ['a -> a_old']],
    ['a replacement under the name, which is none', 'a#1', 'a#7', []],
    ['a drop and an addition, which the ids tell apart', 'a#1:t', 'b#7:t', []],
    ['the only one of its kind without ids', 'a:t b:u', 'b:u c:t d:u', ['a ~> c']],
    ['two that may be it', 'a:t', 'b:t c:t', []],
    ['one that two may be', 'a:t b:t', 'c:t', []],
    ['an unknown id', 'a:t', 'b#1:t', ['a ~> b']],
    ['one without an id beside one that the ids rule out', 'a:t b#1:t', 'c#7:t', ['a ~> c']],
    ['what another has by name and id', 'a#1 b#1', 'a#1 b#7', []],
    ['one that both may be, whatever their ids', 'a:t b#1:t', 'c:t', []],
  ])('is found: %s', (_, known, found, expected) => {
    expect(moves(known, found)).toEqual(expected)
  })

  it('is looked for once in each, however many are gone and new', () => {
    const names = Array.from({ length: 8_000 }, (_, index) => `n${index}`)
    let looks = 0
    const kindOf = (name: string) => {
      looks += 1
      return name.replace('new ', '')
    }

    const found = findMoves({
      known: names.map((name) => ({ record: name, name, dbId: undefined })),
      found: names.map((name) => ({ item: `new ${name}`, name: `new ${name}`, dbId: undefined })),
      kindOf,
      kindOfFound: kindOf,
    })

    expect(found).toHaveLength(names.length)
    expect(looks).toBe(2 * names.length)
  })
})
