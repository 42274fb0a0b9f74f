/**
 * Every route that is mounted is in an OpenAPI document, and the documents name no other. A new route is described in
 * handlers/openapi/.
 */
import { expect, it } from 'vitest'
import { describedRoutes, renderSystemDocument } from '../../handlers/openapi/routes.ts'
import { mountedRoutes } from '../support/mounted-routes.ts'

/** By the document of the workspace (test/acceptance/openapi.test.ts). */
const items = [
  '/api/{workspace}/items',
  '/api/{workspace}/items/{collection}',
  '/api/{workspace}/items/{collection}/{key}',
  '/api/{workspace}/items/{collection}/{key}/changes',
  '/api/{workspace}/aggregates/{collection}',
].flatMap((path) => ['GET', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${path}`))

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
