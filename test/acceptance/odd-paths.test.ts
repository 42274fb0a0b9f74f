/** Parts of a path that are no text to any database, or no text at all: on every route they are a name that nobody has. */
import { beforeAll, expect, it } from 'vitest'
import { describedRoutes } from '../../handlers/openapi/routes.ts'
import { client } from '../support/service/client.ts'
import { type Workspace, world } from '../support/service/world.ts'

let blog: Workspace

/** What holds answers to their documents cannot read such addresses. */
const administrator = client(world.url, { Authorization: `Bearer ${world.administrator.token}` })

beforeAll(async () => {
  blog = await world.workspace('blog', { authors: { id: 'string(20)', name: 'string' } })
  await blog.insert('authors', [{ id: 'ada', name: 'Ada' }])
})

const items = '/api/{workspace}/items/{collection}'
const routes = [
  ...Object.keys(describedRoutes),
  ...['GET', 'POST', 'PATCH', 'DELETE'].map((method) => `${method} ${items}`),
  ...['GET', 'PATCH', 'DELETE'].map((method) => `${method} ${items}/{key}`),
].filter((route) => route.includes('{'))

const places = routes.flatMap((route) => [...route.matchAll(/\{\w+\}/g)].map(([place]) => [route, place] as const))

/** What stands in the other places: of the workspace, what there is; else nothing that there is. */
function filled(route: string): readonly [string, string] {
  const values: Record<string, string> = { '{workspace}': blog.name, '{collection}': 'authors', '{key}': 'ada' }
  const [method = '', path = ''] = route.split(' ')
  return [method, path.replace(/\{\w+\}/g, (name) => values[name] ?? '019a0000-0000-7000-8000-000000000000')]
}

it.each(['%00', 'a%00b', '%ff', '%ed%a0%80', '%zz'])(
  'the part %s of a path is no fault of ours, wherever',
  async (part) => {
    const odd: string[] = []
    for (const [route, place] of places) {
      const [method, path] = filled(route.replace(place, part))

      const response = await administrator.send(method, path, method === 'GET' ? {} : { body: {} })

      const text = await response.text()
      if (!expected(part, place, method, path).includes(response.status)) {
        odd.push(`${route} as ${place}: ${response.status} ${text}`)
      }
    }

    expect(places.length).toBeGreaterThan(100)
    expect(odd).toEqual([])
  },
)

function expected(part: string, place: string, method: string, path: string): readonly number[] {
  if (/^GET \/api\/[^/]*\/docs$/.test(`${method} ${path}`)) return [200]
  if (!part.includes('%00')) return [400, 404, 422]
  // The id of a file is the key of its item.
  const isKey = place === '{key}' || (place === '{id}' && /\/assets\/[^/]*$/.test(path))
  if (method === 'GET') return isKey ? [422] : [404]
  return place === '{key}' ? [404, 422] : [400, 404, 422]
}
