/** The query of a request as text without the token; parsed only when needed. */
import { type BracketTree, parseBrackets } from '../../src/core/query/brackets.ts'
import type { ReadQuery } from '../../src/core/query/parse.ts'
import { withJsonTexts } from '../../src/core/query/parse-json.ts'
import type { RawQuery } from '../../src/services/data/plan-cache.ts'
import { searchWithoutToken } from './credentials.ts'
import { type AppContext, headerOf, isDisconnected } from './request.ts'

export function rawQuery(c: AppContext, parse: (tree: BracketTree) => ReadQuery): RawQuery {
  return {
    text: searchWithoutToken(c.req.url),
    parse: (text) => withJsonTexts(parse)(parseBrackets(text)),
    // No getter: an object with one gets its own hidden class, which lives until the next full garbage collection.
    freshness: headerOf(c, 'cache-control')?.includes('no-cache') === true ? 'fresh' : 'kept',
    isDisconnected: () => isDisconnected(c),
    planned() {
      c.get('timing').planned = performance.now()
    },
  }
}
