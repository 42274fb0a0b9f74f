/**
 * Tags among what the service answers: two rows have the same one exactly where they read alike, and a write that names the tag
 * of its item is that write, but for an item that has another one.
 */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { parseListQuery } from '../../../src/core/query/parameters.ts'
import type { Draft } from '../../property/support/request.ts'
import type { Row } from '../../property/support/rows.ts'
import type { Service } from './service.ts'
import type { Write } from './writes.ts'

/** The same list with the tags of all its items, nested ones too. */
export function withTags(draft: Draft): Draft {
  const { fields = ['*'] } = draft.request
  const places = fields.flatMap((path) => {
    const names = path.split('.')
    return names.map((_, end) => [...names.slice(0, end), '_etag'].join('.'))
  })
  return { ...draft, request: { ...draft.request, fields: [...new Set([...fields, ...places])] } }
}

export type Tags = { readonly byText: Map<string, string>; readonly texts: Map<string, string> }

export function noTags(): Tags {
  return { byText: new Map(), texts: new Map() }
}

/** Takes the tags out of an answer, once each was held against what the naive rules show of its row. */
export function checkTags(tags: Tags, actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual)) {
    return actual.map((one, index) => checkTags(tags, one, Array.isArray(expected) ? expected[index] : undefined))
  }
  if (typeof actual !== 'object' || actual === null) return actual
  const shown = (typeof expected === 'object' && expected !== null ? expected : {}) as Row
  return Object.fromEntries(
    Object.entries(actual).map(([name, one]) => {
      if (name !== '_etag') return [name, checkTags(tags, one, shown[name])]
      const text = String(shown._etag)
      expect(one).toMatch(/^[\w-]{22}$/)
      expect(tags.byText.get(text) ?? one, text).toBe(one)
      // JSON may be one value in several texts; then they have one tag.
      expect(tags.texts.get(one) ?? plainly(text), text).toBe(plainly(text))
      tags.byText.set(text, one)
      tags.texts.set(one, plainly(text))
      return [name, text]
    }),
  )
}

/** Members in one order. */
function plainly(text: string): string {
  const ordered = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(ordered)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .sort()
        .map(([name, one]) => [name, ordered(one)]),
    )
  }
  return JSON.stringify(ordered(JSON.parse(text)))
}

/** The tag of the one item that is written, where the caller may read it. */
export async function tagOfTarget(service: Service, write: Write): Promise<string | undefined> {
  if (!('key' in write)) return undefined
  const filter = { form: 'json', value: { id: { _eq: write.key } } } as const
  const read = (fields: readonly string[]) => () => ({ ...plain, fields, filter })
  const reply = await service.list(write.collection, read(['_etag']))
  if (reply.status !== 200 || reply.text === '[]') return undefined
  const [{ _etag } = {}] = JSON.parse(reply.text) as { _etag?: string }[]
  const { text } = await service.list(write.collection, () => ({ ...plain, fields: undefined, filter }))
  expect(_etag).toBe(createHash('sha256').update(text.slice(1, -1)).digest('base64url').slice(0, 22))
  return _etag
}

const plain = parseListQuery({ limit: '1' })
