/** A relation of the model as a field of the file, at the side with the key. */
import type { PrimitiveField, RelationField, SourceRecord } from '../../model/model.ts'
import { columnsOf, type FileRelation } from '../file.ts'
import { constraintName } from '../resolve-relation.ts'
import { isEnforced } from '../sources.ts'

export type RelationExport = {
  readonly sources: readonly SourceRecord[]
  readonly hasIndex: boolean
  /** Of the constraint. */
  readonly actions: Pick<FileRelation, 'onDelete' | 'onUpdate'>
  readonly dbName: string
}

type Join = RelationField['joins'][number]

/** The joins in the order of the key that they refer to, or by name where that is not the target's primary key. */
function orderedJoins({ joins, target }: RelationField): {
  readonly joins: readonly Join[]
  readonly isOfKey: boolean
} {
  const key = target.primaryKey
  const ofKey = key.flatMap((field) => joins.filter(({ other }) => other.id === field.id))
  const isOfKey = key.length === joins.length && ofKey.length === joins.length
  const byName = [...joins].sort((one, other) => (one.other.apiName < other.other.apiName ? -1 : 1))
  return { joins: isOfKey ? ofKey : byName, isOfKey }
}

/** The columns of a relation, in the order in which the file names them. */
export function relationColumns(field: RelationField): readonly PrimitiveField[] {
  return orderedJoins(field).joins.map(({ own }) => own)
}

export function exportRelation(
  field: RelationField,
  { sources, hasIndex, actions, dbName }: RelationExport,
): FileRelation {
  const { target, collection, opposite, apiName } = field
  const { joins, isOfKey } = orderedJoins(field)
  const referenced = joins.map(({ other }) => other.apiName)
  const by = joins.map(({ own }) => own.apiName)
  const derived = constraintName(
    collection.dbName,
    joins.map(({ own }) => own.dbName),
  )
  const isKept = isEnforced(collection, target, sources)
  return {
    kind: 'relation',
    to: target.apiName,
    isNullable: joins.some(({ own }) => own.isNullable),
    opposite: opposite?.apiName ?? collection.apiName,
    isUnique: opposite?.isList === false,
    ...actions,
    by: by.join() === columnsOf(apiName, referenced).join() ? undefined : by,
    references: isOfKey ? undefined : referenced,
    constraint: !isKept ? false : dbName === derived ? undefined : dbName,
    hasIndex,
    renamedFrom: undefined,
  }
}
