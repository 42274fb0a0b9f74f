/**
 * Entity tags (docs/contract.md#conditional-requests): parses the tags of a request, and builds answers that clients may cache
 * but must revalidate.
 */
import { andThen, type Eventual } from '../../src/core/and-then.ts'
import { nested } from '../../src/core/error.ts'
import type { TagOf } from '../../src/ports/ports.ts'
import { type Answer, dataText } from './answer.ts'
import { type AppContext, headerOf } from './request.ts'
import type { BindingHeader } from './unexpected-input.ts'

/** The tags of a header without quotes and without their weakness, because proxies weaken tags. */
export type Tags = 'any' | readonly string[]

/** Answers the text with the entity tag `tag`, or 304 if `If-None-Match` contains the tag. */
export async function withEtag(
  c: AppContext,
  tag: string,
  render: () => Exclude<Answer['body'], null> | Promise<Exclude<Answer['body'], null>>,
): Promise<Answer> {
  const known = tagsOf(c, 'If-None-Match')
  return unchanged(tag, known) ?? { status: 200, body: await render(), headers: headersOf(tag) }
}

/** Answers one item with the tag of its text, or 304 if the tag is in `known`. */
export function itemWithEtag(known: Tags | undefined, tagOf: TagOf, text: string): Eventual<Answer> {
  return andThen(tagOf(text), (tag) => withTag(dataText(text), tag, known))
}

/** Adds the tag, given without quotes, to the answer; 304 if the tag is in `known`. */
export function withTag(answer: Answer, opaque: string, known: Tags | undefined): Answer {
  const tag = `"${opaque}"`
  return unchanged(tag, known) ?? { ...answer, headers: { ...answer.headers, ...headersOf(tag) } }
}

/** Returns 304 if `known` contains the tag. */
function unchanged(tag: string, known: Tags | undefined): Answer | undefined {
  const isKnown = known === 'any' || known?.includes(tag.slice(tag.indexOf('"') + 1, -1)) === true
  return isKnown ? { status: 304, body: null, headers: headersOf(tag) } : undefined
}

/** Weakens the tag of a compressed answer, whose bytes differ. */
export function weakened(headers: Answer['headers']): Answer['headers'] {
  const tag = headers?.ETag
  return tag?.startsWith('"') === true ? { ...headers, ETag: `W/${tag}` } : headers
}

function headersOf(tag: string): Readonly<Record<string, string>> {
  return { 'Cache-Control': 'private, no-cache', ETag: tag }
}

/** Returns undefined without the header. Throws 422 for a text that is neither `*` nor a list of tags. */
export function tagsOf(c: AppContext, header: BindingHeader): Tags | undefined {
  const sent = headerOf(c, header.toLowerCase())
  if (sent === undefined) return undefined
  if (sent.trim() === '*') return 'any'
  const rest = sent.replace(TAG, '')
  const tags = sent.match(TAG)?.map((tag) => tag.slice(tag.indexOf('"') + 1, -1)) ?? []
  if (tags.length > 0 && /^[\s,]*$/.test(rest)) return tags
  throw nested('invalid', ['Failed to read the headers', header, 'must be * or a list of tags in quotes'])
}

const TAG = /(?:W\/)?"[^"]*"/g
