/** The hostile connector in an isolate of the Worker Loader. The local workerd bounds neither CPU nor memory: not tried here. */
import { inject } from 'vitest'
import { describeHostileConnector } from '../security/hostile-connector.ts'
import { openWorkerdHost } from './isolates.ts'

const { code, attempts } = inject('hostile')

describeHostileConnector('workerd', attempts, () => ({
  host: openWorkerdHost(),
  upstream: inject('upstream'),
  code,
  attempts,
}))
