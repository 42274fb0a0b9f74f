/** ConnectorHost on Workers: the shared laws against isolates of the Worker Loader behind the real gate. */
import { inject } from 'vitest'
import { describeConnectorHost } from '../contract/connector-host.ts'
import { openWorkerdHost } from './isolates.ts'

const upstream = inject('upstream')

describeConnectorHost('isolates of the Worker Loader', (wished) => ({ host: openWorkerdHost(wished), upstream }))
