/**
 * The entity tag of a list (docs/contract.md#conditional-requests), only if the request has `etag` in `meta`, or sends tags.
 * Tags belong to HTTP alone, so `etag` is removed from the query before it is parsed.
 */
import { andThen, type Eventual } from '../../src/core/and-then.ts'
import type { TagOf } from '../../src/ports/ports.ts'
import type { ListQuery } from '../../src/services/data/items.ts'
import type { Answer } from './answer.ts'
import { type Tags, tagsOf, withTag } from './etag.ts'
import type { AppContext } from './request.ts'

const TAG = 'etag'

export type Tagging = {
  /** The query without `etag`. */
  readonly query: ListQuery
  /** Adds the tag to an answer; undefined if the answer has no tag. */
  readonly tagged: ((answer: Answer) => Eventual<Answer>) | undefined
}

/** Throws 422 for malformed tags. */
export function taggingOf(c: AppContext, tagOf: TagOf, query: ListQuery): Tagging {
  const known = tagsOf(c, 'If-None-Match')
  const { sent, wantsTag } = withoutTag(query.sent)
  if (!wantsTag && known === undefined) return { query, tagged: undefined }
  return { query: { ...query, sent }, tagged: (answer) => tagged(answer, tagOf, known) }
}

function tagged(answer: Answer, tagOf: TagOf, known: Tags | undefined): Eventual<Answer> {
  if (typeof answer.body !== 'string') return answer
  return andThen(tagOf(answer.body), (tag) => withTag(answer, tag, known))
}

type Sent = ListQuery['sent']

function withoutTag(sent: Sent): { readonly sent: Sent; readonly wantsTag: boolean } {
  if (typeof sent === 'string') return inText(sent)
  if (!('body' in sent)) return { sent, wantsTag: false }
  const { meta, ...others } = sent.body as { readonly meta?: unknown }
  const names = typeof meta === 'string' ? meta.split(',') : Array.isArray(meta) ? (meta as readonly unknown[]) : []
  if (!names.includes(TAG)) return { sent, wantsTag: false }
  const rest = names.filter((name) => name !== TAG)
  return { sent: { ...sent, body: { ...others, ...(rest.length > 0 && { meta: rest }) } }, wantsTag: true }
}

/** Leaves a repeated parameter to the parser, which refuses it. */
function inText(sent: string): { readonly sent: string; readonly wantsTag: boolean } {
  if (!sent.includes(META)) return { sent, wantsTag: false }
  const parts = sent.split('&')
  const at = parts.findIndex((part) => part.startsWith(META))
  const names = decoded(parts[at]?.slice(META.length) ?? '').split(',')
  const isTwice = parts.some((part, index) => index > at && part.startsWith(META))
  if (isTwice || !names.includes(TAG)) return { sent, wantsTag: false }
  const rest = names.filter((name) => name !== TAG)
  const others = rest.length === 0 ? [] : [META + encodeURIComponent(rest.join(','))]
  return { sent: parts.toSpliced(at, 1, ...others).join('&'), wantsTag: true }
}

const META = 'meta='

/** Returns malformed text unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
