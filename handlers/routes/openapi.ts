/** `/api/{workspace}/openapi` and `/api/system/openapi` (docs/contract.md#openapi). */
import type { Services } from '../../src/services/instance/services.ts'
import { authorize, identify } from '../http/context.ts'
import { withEtag } from '../http/etag.ts'
import { type App, mount } from '../http/mount.ts'

export function mountOpenApi(app: App, services: Services): void {
  const { openApi } = services

  mount(app, '/api/system/openapi', {
    GET: async (c) => {
      const { renderSystemDocument } = await import('../openapi/routes.ts')
      const { tag, render } = await openApi.system(await identify(services, c), renderSystemDocument)
      return withEtag(c, tag, render)
    },
  })

  mount(app, '/api/:workspace/openapi', {
    GET: async (c) => {
      const { tag, render } = await openApi.workspace(await authorize(services, c))
      return withEtag(c, tag, render)
    },
  })
}
