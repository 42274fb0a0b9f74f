/** Answers documents that depend on the model only: clients may cache them, but must revalidate. */

import type { Answer } from './answer.ts'
import { type AppContext, headerOf } from './request.ts'

/** Answers the text with the entity tag `tag`, or 304 where `If-None-Match` contains it. */
export async function withEtag(
  c: AppContext,
  tag: string,
  render: () => Exclude<Answer['body'], null> | Promise<Exclude<Answer['body'], null>>,
): Promise<Answer> {
  const headers = { 'Cache-Control': 'private, no-cache', ETag: tag }
  if (isKnown(c, tag)) return { status: 304, body: null, headers }
  return { status: 200, body: await render(), headers }
}

/** Entity tags are compared weakly. */
function isKnown(c: AppContext, tag: string): boolean {
  const known = (headerOf(c, 'if-none-match') ?? '').split(',').map((one) => one.trim())
  return known.some((one) => one === '*' || one.replace(/^W\//, '') === tag.replace(/^W\//, ''))
}
