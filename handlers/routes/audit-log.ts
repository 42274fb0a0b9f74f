/** `/api/system/audit-log` and `/api/{workspace}/audit-log` (docs/contract.md#audit-log). */
import type { Services } from '../../src/services/instance/services.ts'
import { dataText } from '../http/answer.ts'
import { authorize, identify } from '../http/context.ts'
import { type App, mount } from '../http/mount.ts'
import { listQuery } from '../http/schemas.ts'

export function mountAuditLog(app: App, services: Services): void {
  const { auditLog } = services

  mount(
    app,
    '/api/system/audit-log',
    {
      GET: async (c) => {
        const { data, total } = await auditLog.list(await identify(services, c), () => listQuery(c))
        return dataText(data, total)
      },
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/:workspace/audit-log',
    {
      GET: async (c) => {
        const { data, total } = await auditLog.listOf(await authorize(services, c), () => listQuery(c))
        return dataText(data, total)
      },
    },
    { strictQuery: ['GET'] },
  )
}
