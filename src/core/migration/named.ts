/** What operations name, and what of it they make: ids that may have been those of another table or column of the database. */
import type { Operation } from './operation.ts'

/** The ids of the collections and fields that operations make, whatever was under them before. */
export function madeBy(operations: readonly Operation[]): ReadonlySet<string> {
  return new Set(
    operations.flatMap((operation) => {
      if (operation.kind !== 'createCollection' && operation.kind !== 'updateCollection') return []
      const { id, operations: parts } = operation.data
      const fields = parts.flatMap((part) => (part.kind === 'createPrimitiveField' ? [part.data.id] : []))
      return operation.kind === 'createCollection' ? [id, ...fields] : fields
    }),
  )
}

/** The texts within an operation, in their order: its ids among them. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
