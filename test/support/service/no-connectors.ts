/** Connectors port of an instance without extensions. */
import { ServiceError } from '../../../src/core/error.ts'
import type { Ports } from '../../../src/ports/ports.ts'

export const noConnectors: Ports['connectors'] = {
  host: {
    open: () => {
      throw new ServiceError('unavailable', 'This instance runs no data connectors')
    },
  },
  catalog: { installed: () => [], broken: () => [] },
}
