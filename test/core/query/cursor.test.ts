/** Cursors, and the templates of queries that hold one. */
import { describe, expect, it } from 'vitest'
import { digestOf, nullPattern, readCursor, readValue, writeCursor } from '../../../src/core/query/cursor.ts'
import { parseTemplate, toQueryTemplate } from '../../../src/core/query/query-template.ts'

const cursor = (...values: readonly unknown[]) => writeCursor(JSON.stringify([1, 'abc', ...values]))

describe('a cursor', () => {
  it('is read as it was written, whatever its values', () => {
    const values = ['é😀"\\', '9223372036854775807', 0.1, null, true, '2026-01-01T00:00:00.123456Z', '']

    expect(readCursor(cursor(...values))).toEqual({ digest: 'abc', values })
    expect(cursor('>>>???')).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(nullPattern({ digest: 'abc', values: [1, null, ''] })).toBe('101')
  })

  it.each(['', 'a', 'abcd', '=', 'a b', writeCursor('{}'), writeCursor('[1]'), writeCursor('[1,"A&b",1]'), '_w'])(
    'is not read from %j',
    (text) => {
      expect(readCursor(text)).toBeUndefined()
    },
  )

  it('has 100 values at most, which are counted before any is read', () => {
    const numbers = (count: number) => writeCursor(`[1,"abc",${Array(count).fill('1e9')}]`)

    expect(readCursor(numbers(100))?.values).toHaveLength(100)
    expect(readCursor(numbers(101))).toBeUndefined()
    expect(readCursor(writeCursor(`[1,"abc",[[1]]]`))).toBeUndefined()
  })

  it.each([
    ['a text for a number', 'int32', 'x'],
    ['a list', 'int32', [1]],
    ['a fraction', 'boolean', 0.5],
    ['a day that is none', 'date', '2026-02-30'],
  ] as const)('has no value of %s', (_, name, value) => {
    const read = () => readValue({ digest: 'abc', values: [value] }, { type: { name }, at: 0, path: 'after' })

    expect(read).toThrow('Failed to execute query')
  })

  it('tells orders apart', () => {
    const texts = Array.from({ length: 1_000 }, (_, index) => `["posts","title","${index}"]`)

    expect(new Set(texts.map(digestOf)).size).toBe(1_000)
    expect(texts.map(digestOf).every((digest) => /^[0-9a-z]{1,11}$/.test(digest))).toBe(true)
  })
})

describe('a query with a cursor', () => {
  const fingerprint = (after: string) => toQueryTemplate(`filter[a]=1&after=${after}&limit=2`).fingerprint

  it('has the fingerprint of all of its order, but for where there are nulls', () => {
    expect(fingerprint(cursor(1, 'a'))).toBe(fingerprint(cursor(2, 'b')))
    expect(fingerprint(cursor(1, 'a'))).not.toBe(fingerprint(cursor(null, 'a')))
    expect(fingerprint(cursor(1))).not.toBe(fingerprint(writeCursor('[1,"abd",1]')))
    expect(fingerprint('abcd')).toContain('after=abcd')
  })

  it('is parsed with the cursor left open', () => {
    const template = toQueryTemplate(`after=${cursor(1, null)}&filter[a]=1`)
    const { start } = parseTemplate(template).query

    expect(template.values.map(({ name }) => name)).toEqual(['after', 'filter[a]'])
    expect(start).toMatchObject({ side: 'after', cursor: { sent: expect.any(Symbol) } })
    const { sent, template: known } = start?.cursor ?? {}
    expect(known?.cursorOf(sent as symbol)).toEqual({ digest: 'abc', values: [1, null] })
  })
})
