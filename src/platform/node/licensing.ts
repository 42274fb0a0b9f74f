/** The licensing ports on Node: the client, a random id for this start, and the process's alarm. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock, LicensingPorts } from '../../ports.ts'
import { createLicensingClient } from '../licensing-client.ts'
import { createNodeAlarm, type NodeAlarm, type Ticker } from './alarm.ts'

export type NodeLicensing = { readonly ports: LicensingPorts; readonly alarm: NodeAlarm }

export function createNodeLicensing(clock: Clock, ticker?: Ticker): NodeLicensing {
  const alarm = createNodeAlarm(clock, ticker)
  return { ports: { client: createLicensingClient({ pause }), alarm, pause, startId: randomUUID() }, alarm }
}
