/** What the placeholders of an operation of a batch stand for. */
import { type Bindings, unbound } from '../../query/placeholder.ts'
import type { OperationValues } from '../plan.ts'

/** `bindings` has what is the same for all operations, and all that an operation without values of its own has. */
export function operationBindings(bindings: Bindings, index: number, values: OperationValues | undefined): Bindings {
  return (placeholder) => {
    if (placeholder.kind === 'operation') return String(index)
    if (values === undefined) return bindings(placeholder)
    switch (placeholder.kind) {
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
