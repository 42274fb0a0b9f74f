/** The licensing ports on Node: the client, a random id for this start, and the process's alarm. */
import { randomUUID } from 'node:crypto'
import { pause } from '../../ports/clock.ts'
import type { LicensingPorts } from '../../ports/licensing.ts'
import { createLicensingClient } from '../licensing-client.ts'
import { createNodeAlarm, type NodeAlarm, type NodeAlarmDeps } from './alarm.ts'
import { operatorFetch } from './network/network.ts'

export type NodeLicensing = { readonly ports: LicensingPorts; readonly alarm: NodeAlarm }

export function createNodeLicensing(deps: NodeAlarmDeps): NodeLicensing {
  const alarm = createNodeAlarm(deps)
  return {
    ports: { client: createLicensingClient({ pause, wayOut: operatorFetch }), alarm, pause, startId: randomUUID() },
    alarm,
  }
}
