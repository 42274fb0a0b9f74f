/**
 * How much one plan may change. A file of a megabyte may stand for a hundred thousand things, whose statements and changes would be
 * a hundred times as long as the file (docs/decisions/094-size-of-plans.md).
 */
import type { Operation } from '../../migration/operation.ts'
import type { ModelRecords } from '../../model/model.ts'
import type { ModelFile } from '../file.ts'
import { fileFault } from '../reading.ts'

/** Operations of a migration, those inside of others among them. */
export const MAX_STEPS = 10_000

/** Rights that a plan tells of, each of a role by a policy. */
const MAX_RIGHTS = 50_000

/** Those that make a junction of two relations: the collection, two fields, its key, the relations and the field over it. */
const STEPS_OF_JUNCTION = 7

/** Throws 422 where the file has so much more than the model that nothing needs to be worked out to know. */
export function requireNear({ collections }: ModelFile, records: ModelRecords): void {
  let things = 0
  for (const { fields, indexes } of collections?.values() ?? []) {
    things += 1 + fields.size + indexes.length
    for (const { kind } of fields.values()) if (kind === 'junction') things += STEPS_OF_JUNCTION - 1
  }
  const { collections: known, primitiveFields, relationFields, indexes } = records
  requireFew(things - known.length - primitiveFields.length - relationFields.length - indexes.length)
}

/** Throws 422 where a plan has too many steps, changes of names among them. */
export function requireFewSteps(operations: readonly Operation[], names: readonly object[] = []): void {
  const steps = operations.reduce((all, operation) => all + stepsOf(operation), 0)
  requireFew(steps)
  requireFew(steps + names.length, 'model.names')
}

/** Throws 422 where roles gain or lose too many rights to tell of each. */
export function requireFewRights(rights: number): void {
  if (rights > MAX_RIGHTS)
    throw fileFault('model.roles', `changes more than ${MAX_RIGHTS} rights: apply it in several steps`)
}

function stepsOf({ data }: Operation): number {
  return 1 + ('operations' in data ? data.operations.length : 0)
}

function requireFew(steps: number, place = 'model.collections'): void {
  if (steps <= MAX_STEPS) return
  throw fileFault(place, `asks for more than ${MAX_STEPS} operations: apply it in several steps`)
}
