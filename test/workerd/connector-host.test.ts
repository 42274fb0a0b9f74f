/** ConnectorHost on Workers: the shared laws against isolates of the Worker Loader behind the real gate. */
import { inject } from 'vitest'
import type { ConnectorLine } from '../../src/ports.ts'
import { describeConnectorHost } from '../ports/connector-host.ts'
import { openWorkerdHost } from './isolates.ts'

const upstream = inject('upstream')

describeConnectorHost('isolates of the Worker Loader', (wished) => {
  const printed: ConnectorLine[] = []
  return { host: openWorkerdHost(wished, (line) => printed.push(line)), upstream, printed }
})
