import { expect, it } from 'vitest'
import { keptOf, readKept } from '../../../src/core/sql/write/kept-lists.ts'

const list = (data: string) => [{ data, total: undefined }]
/** A write that can be read again, a deletion, and a read. */
const keepings = ['bySize', 'body', 'ifShort'] as const
const lists = { answers: ['["made"]', '["gone"]', '["read"]'].map(list), keys: [list('["key"]'), [], []] }
const kept = (mostAgain: number, mostElse: number) => {
  const { body, itemKeys } = keptOf(keepings, lists, { mostAgain, mostElse })
  const texts = (text: string | null) => [...readKept(text ?? '')].map(([index, { data }]) => `${index} ${data}`)
  return [texts(body), texts(itemKeys)]
}

it('keeps what answers, as far as it is short, and of the rest the keys', () => {
  expect(kept(100, 100)).toEqual([['1 ["gone"]', '0 ["made"]', '2 ["read"]'], []])
  expect(kept(10, 100)).toEqual([['1 ["gone"]'], ['0 ["key"]']])
  expect(kept(100, 9)).toEqual([['0 ["made"]', '2 ["read"]'], []])
  expect(kept(0, 0)).toEqual([[], ['0 ["key"]']])
})
