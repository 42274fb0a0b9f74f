/** The query of a request, by its text without the token; parsed only where somebody needs to know what it says. */
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
    // No getter: each object made with one would get a hidden class of its own, which lives until the next full collection.
    freshness: headerOf(c, 'cache-control')?.includes('no-cache') === true ? 'fresh' : 'kept',
    isDisconnected: () => isDisconnected(c),
    planned() {
      c.get('timing').planned = performance.now()
    },
  }
}
