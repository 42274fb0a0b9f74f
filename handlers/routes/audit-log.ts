/** `/api/system/audit-log` and `/api/{workspace}/audit-log` (docs/contract.md#audit-log). */
import type { Services } from '../../src/services/instance/services.ts'
import { authorize, identify } from '../http/context.ts'
import type { App } from '../http/mount.ts'
import { mountResource } from '../http/resource.ts'

export function mountAuditLog(app: App, services: Services): void {
  const { auditLog } = services

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
