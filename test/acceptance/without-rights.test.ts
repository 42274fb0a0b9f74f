/**
 * What a member without any right gets, by the table of routes: a new route is refused to them, or stands here among those
 * that are for everybody.
 */
import { expect, it } from 'vitest'
import { describedRoutes } from '../../handlers/openapi/routes.ts'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('no_rights', { articles: { title: 'string' } })
const member = await people.memberWith(shop, [])

const routes = Object.keys(describedRoutes).filter((route) => /^\w+ \/api\/(\{workspace\}|system)\//.test(route))
const forEverybody = [
  ...['live', 'ready', 'info', 'docs', 'docs/{file}'].map((path) => `GET /api/system/${path}`),
  'POST /api/system/bootstrap',
  'GET /api/system/schemas/model',
  'GET /api/{workspace}/docs',
  'GET /api/{workspace}/access',
  'GET /api/system/users/me',
  ...routes.filter((route) => /^\w+ \/api\/system\/users\/me\/sessions/.test(route)),
  'PATCH /api/system/users/me',
  // Lists of what they belong to, and what is their own.
  'GET /api/system/workspaces',
  ...routes.filter((route) => /^\w+ \/api\/system\/(api-keys|service-accounts)/.test(route)),
]

/** More than 64 KiB, and no JSON. */
const large = `{${' '.repeat(70_000)}`

/** Bodies of 64 KiB at most, which are read before the right is asked. */
const small = /\/(mail\/test|license\/refresh|restore|link|complete|introspect\/\{source\})$/

it('every other route is refused before anything is read', async () => {
  const asked = routes.filter((route) => !forEverybody.includes(route))

  expect(asked.length).toBeGreaterThan(50)
  expect(await answeringOtherwise(asked, [403], large)).toEqual([])
})

it('items are refused before the body is read', async () => {
  const items = ['POST items', ...['POST', 'PATCH', 'QUERY'].map((method) => `${method} items/articles`)]
  const asked = [...items, 'PATCH items/articles/1', 'QUERY aggregates/articles'].map((route) =>
    route.replace(' ', ' /api/{workspace}/'),
  )

  expect(await answeringOtherwise(asked, [403], large)).toEqual([])
})

it('no route for everybody is refused', async () => {
  expect(await answeringOtherwise(forEverybody, [200, 204, 404, 422])).toEqual([])
})

/** The routes that answer anything but `statuses`, each with what it answers. */
async function answeringOtherwise(
  asked: readonly string[],
  statuses: readonly number[],
  body?: string,
): Promise<readonly string[]> {
  const odd: string[] = []
  for (const route of asked) {
    const response = await send(route, body)
    const text = await response.text()
    if (!statuses.includes(response.status)) odd.push(`${route}: ${response.status} ${text}`)
  }
  return odd
}

function send(route: string, body: unknown = {}): Promise<Response> {
  const [method = '', path = ''] = route.split(' ')
  const address = path
    .replace('{workspace}', shop.name)
    .replace('{name}', 'nothing')
    .replace(/\{\w+\}/g, crypto.randomUUID())
  return member.system.send(method, address, /^[PQ]/.test(method) ? { body: small.test(route) ? {} : body } : {})
}
