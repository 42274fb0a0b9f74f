/** Connectors port of an instance without extensions. */
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
