/** All routes of the app, asked of the app itself. */
import { createApp } from '../../handlers/app.ts'
import { openNodeAssets } from '../../src/platform/node/assets.ts'
import type { Services } from '../../src/services/instance/services.ts'

/** `GET /api/{workspace}/roles` for each; what a path knows, it says itself when it is asked for what no path knows. */
export async function mountedRoutes(): Promise<readonly string[]> {
  const app = createApp({
    services,
    metrics: async () => '',
    isAccepting: () => true,
    peerOf: () => undefined,
    systemDocument: () => Promise.resolve(''),
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
