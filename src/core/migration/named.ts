/**
 * The ids that operations name and create, which other tables or columns of the database may have had before.
 */
import type { Operation } from './operation.ts'

/** The ids of the collections and fields that operations create, even if they were used before. */
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

/** All strings within an operation in order, including its ids. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
