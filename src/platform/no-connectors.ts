/** For instances without extensions: nothing is installed, so that nothing is ever run. */
import { ServiceError } from '../core/error.ts'
import type { Ports } from '../ports.ts'

export const noConnectors: Ports['connectors'] = {
  host: {
    open: () => {
      throw new ServiceError('unavailable', 'This instance runs no data connectors')
    },
  },
  catalog: { installed: () => [], broken: () => [] },
}
