/** `/api/system/audit-log` and `/api/{workspace}/audit-log` (docs/contract.md#audit-log). */
import type { Services } from '../../src/services/instance/services.ts'
import { data } from '../http/answer.ts'
import { authorize, identify } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { mountResource } from '../http/resource.ts'

export function mountAuditLog(app: App, services: Services): void {
  const { auditLog } = services

  mount(app, '/api/system/audit-log/actions', {
    GET: async (c) => data(auditLog.actions(await identify(services, c))),
  })

  mount(app, '/api/:workspace/audit-log/actions', {
    GET: async (c) => data(auditLog.actionsOf(await authorize(services, c))),
  })

  mountResource(app, {
    path: '/api/system/audit-log',
    scopeOf: (c) => identify(services, c),
    list: auditLog.list,
  })

  mountResource(app, {
    path: '/api/:workspace/audit-log',
    scopeOf: (c) => authorize(services, c),
    list: auditLog.listOf,
  })
}
