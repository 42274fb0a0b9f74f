/** `/api/system/license` and `/api/{workspace}/license` (docs/contract.md#license-entitlements). */
import type { Services } from '../../src/services/instance/services.ts'
import { data } from '../http/answer.ts'
import { authorize, identify } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'

export function mountLicense(app: App, services: Services): void {
  const { licensing } = services

  mount(app, '/api/system/license', {
    GET: async (c) => data(await licensing.ofInstance(await identify(services, c))),
  })

  mount(
    app,
    '/api/system/license/refresh',
    {
      POST: async (c) => data(await licensing.refresh(await identify(services, c))),
    },
    { bodiless: ['POST'] },
  )

  mount(app, '/api/:workspace/license', {
    GET: async (c) => data(await licensing.ofWorkspace(await authorize(services, c))),
  })
}
