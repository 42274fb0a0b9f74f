/** `/api/{workspace}/schema`, the manifest, and `/schema/…` (contract 7). */
import { parseBrackets } from '../src/core/query/brackets.ts'
import { parseDryRun } from '../src/core/query/parse.ts'
import type { Services } from '../src/services/services.ts'
import { searchWithoutToken } from './authenticate.ts'
import { type AppContext, enter, headerOf, pathParam } from './context.ts'
import { readText } from './request.ts'
import { data } from './respond.ts'
import { type App, mount } from './routes.ts'

export function mountSchema(app: App, services: Services): void {
  mount(app, '/api/:workspace/schema', {
    GET: async (c) => {
      const { text, tag } = await services.manifests.load(await enter(services, c))
      // Unlike data it may be kept, by its caller, who has to ask whether it still holds.
      const headers = { 'Cache-Control': 'private, no-cache', ETag: tag }
      return isKnown(c, tag) ? { status: 304, body: null, headers } : { status: 200, body: text, headers }
    },
  })

  mount(app, '/api/:workspace/schema/migrate', {
    POST: async (c) => {
      const entry = await enter(services, c)
      const isDryRun = parseDryRun(parseBrackets(searchWithoutToken(c.req.url)))
      const body = await readText(c, services.config.SERVICE_SCHEMA__BODY_LIMIT)
      if (isDryRun) return data(await services.migrations.preview(entry, body))
      await services.migrations.migrate(entry, body)
      return { status: 200, body: null }
    },
  })

  mount(app, '/api/:workspace/schema/introspect/:source', {
    POST: async (c) => {
      const entry = await enter(services, c)
      return data(await services.introspection.introspect(entry, pathParam(c, 'source')))
    },
  })
}

/** Whether `If-None-Match` names the text that the caller would get; entity tags are compared weakly. */
function isKnown(c: AppContext, tag: string): boolean {
  const known = (headerOf(c, 'if-none-match') ?? '').split(',').map((one) => one.trim())
  return known.some((one) => one === '*' || one.replace(/^W\//, '') === tag.replace(/^W\//, ''))
}
