/** `/api/{workspace}/openapi` and `/api/system/openapi` (docs/contract.md#openapi). */
import type { Services } from '../../src/services/instance/services.ts'
import { authorize, identify } from '../http/context.ts'
import { withEtag } from '../http/etag.ts'
import { type App, mount } from '../http/mount.ts'

/** `systemDocument` renders the document of the system, or reads it if it is rendered already. */
export function mountOpenApi(app: App, services: Services, systemDocument: () => Promise<string>): void {
  const { openApi } = services
  const options = { headers: { GET: ['If-None-Match'] } } as const

  mount(
    app,
    '/api/system/openapi',
    {
      GET: async (c) => {
        const { tag, render } = await openApi.system(await identify(services, c), systemDocument)
        return withEtag(c, tag, render)
      },
    },
    options,
  )

  mount(
    app,
    '/api/:workspace/openapi',
    {
      GET: async (c) => {
        const { tag, render } = await openApi.workspace(await authorize(services, c))
        return withEtag(c, tag, render)
      },
    },
    options,
  )
}
