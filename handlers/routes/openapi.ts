/** `/api/{workspace}/openapi` and `/api/system/openapi` (docs/contract.md#openapi). */
import type { Services } from '../../src/services/instance/services.ts'
import { enter, identify } from '../http/context.ts'
import { tagged } from '../http/etag.ts'
import { type App, mount } from '../http/mount.ts'

export function mountOpenApi(app: App, services: Services): void {
  const { openApi } = services

  mount(app, '/api/system/openapi', {
    GET: async (c) => {
      const { renderSystemDocument } = await import('../openapi/routes.ts')
      const { tag, render } = await openApi.system(await identify(services, c), renderSystemDocument)
      return tagged(c, tag, render)
    },
  })

  mount(app, '/api/:workspace/openapi', {
    GET: async (c) => {
      const { tag, render } = await openApi.workspace(await enter(services, c))
      return tagged(c, tag, render)
    },
  })
}
