/** What the placeholders of an operation of a batch stand for. */
import { type Bindings, unbound } from '../../query/placeholder.ts'
import type { OperationValues } from '../plan.ts'

/** `bindings` has what is the same for all operations. */
export function operationBindings(
  bindings: Bindings,
  index: number,
  values: OperationValues = { key: [], item: [] },
): Bindings {
  return (placeholder) => {
    switch (placeholder.kind) {
      case 'operation':
        return String(index)
      case 'key':
        return values.key[placeholder.index] ?? unbound(placeholder)
      case 'itemValue': {
        const value = values.item[placeholder.index]
        return value === undefined ? unbound(placeholder) : value
      }
      default:
        return bindings(placeholder)
    }
  }
}
