/**
 * Every route that is mounted is in an OpenAPI document, and the documents name no other. A new route is described in
 * handlers/openapi/.
 */
import { expect, it } from 'vitest'
import { createApp } from '../../handlers/app.ts'
import { describedRoutes, renderSystemDocument } from '../../handlers/openapi/routes.ts'
import { openNodeAssets } from '../../src/platform/node/assets.ts'
import type { Services } from '../../src/services/instance/services.ts'

/** By the document of the workspace (test/acceptance/openapi.test.ts). */
const items = ['/api/{workspace}/items/{collection}', '/api/{workspace}/items/{collection}/{key}'].flatMap((path) =>
  ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${path}`),
)

it('describes every route', async () => {
  const mounted = await mountedRoutes()

  expect(mounted.filter((route) => !(route in describedRoutes) && !items.includes(route))).toEqual([])
  expect(Object.keys(describedRoutes).filter((route) => !mounted.includes(route))).toEqual([])
})

it('gives every operation an id of its own', () => {
  const { paths } = JSON.parse(renderSystemDocument()) as {
    paths: Record<string, Record<string, { operationId?: string }>>
  }
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId }) => operationId ?? []),
  )

  expect(ids.length).toBe(Object.keys(describedRoutes).length)
  expect(new Set(ids).size).toBe(ids.length)
})

/** `GET /api/{workspace}/roles` for each; what a path knows, it says itself when it is asked for what no path knows. */
async function mountedRoutes(): Promise<readonly string[]> {
  const app = createApp({
    services,
    metrics: async () => '',
    isAccepting: () => true,
    peerOf: () => undefined,
    assets: openNodeAssets(),
  })
  const paths = [...new Set(app.routes.map(({ path }) => path))]
  const routes = await Promise.all(
    paths.map(async (path) => {
      const response = await app.request(path, { method: 'PROPFIND' })
      const methods = (response.headers.get('Allow') ?? '').split(', ').filter((method) => method !== 'HEAD')
      return methods.map((method) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    }),
  )
  return routes.flat()
}

/** Every use case is there, and no handler runs one. */
const useCases = new Proxy({}, { get: () => () => undefined })
const few: Readonly<Record<string, unknown>> = {
  ports: { clock: { now: () => 0 }, ids: { next: () => '1' }, observe: () => {} },
  config: {},
}
const services = new Proxy({}, { get: (_, name: string) => few[name] ?? useCases }) as unknown as Services
