/** `/api/{workspace}/schema`, the manifest, and `/schema/…` (docs/contract.md#migrations). */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import { type BracketTree, parseBrackets } from '../../src/core/query/brackets.ts'
import { parseFlag, parseManifestPart } from '../../src/core/query/parameters.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, jsonText } from '../http/answer.ts'
import { readBody, readText } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { searchWithoutToken } from '../http/credentials.ts'
import { withEtag } from '../http/etag.ts'
import { type App, mount } from '../http/mount.ts'
import { type AppContext, hasBody, pathParam } from '../http/request.ts'
import { textSchema } from '../http/schemas.ts'
import { readIn } from '../http/sent.ts'

export function mountSchema(app: App, services: Services): void {
  const inScope = <Sent>(c: AppContext, read: () => Promise<Sent>) => readIn(() => authorize(services, c), read)

  mount(
    app,
    '/api/:workspace/schema',
    {
      GET: async (c) => {
        const scope = await authorize(services, c)
        const part = parseManifestPart(searchOf(c))
        const { tag, render } = await services.manifests.load(scope, part)
        return withEtag(c, tag, render)
      },
    },
    { strictQuery: ['GET'], headers: { GET: ['If-None-Match'] } },
  )

  mount(
    app,
    '/api/:workspace/schema/migrate',
    {
      POST: async (c) => {
        const isDryRun = parseFlag(searchOf(c), 'dryRun', false)
        const [scope, body] = await inScope(c, () => readSchemaBody(c, services))
        if (isDryRun) return data(await services.migrations.preview(scope, body))
        await services.migrations.migrate(scope, body)
        return { status: 200, body: null }
      },
    },
    { strictQuery: ['POST'] },
  )

  mount(
    app,
    '/api/:workspace/schema/introspect/:source',
    {
      POST: async (c) => {
        const isDryRun = parseFlag(searchOf(c), 'dryRun', false)
        const [scope, { tables, renames, plan }] = await inScope(c, async () =>
          hasBody(c) ? readBody(c, introspectionBody) : nothing,
        )
        const request = { sourceId: pathParam(c, 'source'), tables, renames, plan }
        const { introspection } = services
        return data(await (isDryRun ? introspection.preview(scope, request) : introspection.introspect(scope, request)))
      },
    },
    { strictQuery: ['POST'] },
  )

  mount(app, '/api/system/schemas/model', { GET: async () => jsonText(await services.modelFiles.schema()) })

  mount(
    app,
    '/api/:workspace/schema/model',
    {
      GET: async (c) => {
        const scope = await authorize(services, c)
        const hasIds = parseFlag(searchOf(c), 'ids', true)
        return jsonText(await services.modelFiles.read(scope, { hasIds }))
      },
    },
    { strictQuery: ['GET'] },
  )

  for (const step of ['plan', 'apply'] as const) {
    mount(app, `/api/:workspace/schema/${step}`, {
      POST: async (c) => {
        const [scope, body] = await inScope(c, () => readSchemaBody(c, services))
        return data(await services.modelFiles[step](scope, body))
      },
    })
  }

  mount(app, '/api/:workspace/schema/drift', {
    GET: async (c) => jsonText(`{"data":{"sources":${await services.drift.list(await authorize(services, c))}}}`),
  })
}

const nothing: z.infer<ReturnType<typeof introspectionBody>> = {}

/** Reads a migration or a model file. */
function readSchemaBody(c: AppContext, { config }: Services): Promise<string> {
  return readText(c, config.SERVICE_SCHEMA__BODY_LIMIT, 'SERVICE_SCHEMA__BODY_LIMIT')
}

function searchOf(c: AppContext): BracketTree {
  return parseBrackets(searchWithoutToken(c.req.url))
}

const patterns = () => z.array(textSchema(300)).max(1_000).optional()

export const introspectionBody = lazily(() =>
  z.strictObject({
    tables: z.strictObject({ include: patterns(), exclude: patterns() }).optional(),
    renames: z.array(z.strictObject({ from: z.string(), to: z.string() })).optional(),
    plan: z.string().optional(),
  }),
)
