/** A column of the model as a field of the file. */
import type { DefaultValue, PrimitiveField } from '../../model/model.ts'
import type { FilePrimitive, Filled } from '../file.ts'
import { sortedValue } from '../sorted-json.ts'

export function exportField(field: PrimitiveField): FilePrimitive {
  const { type, isList, isNullable, isReadOnly, dbName, defaultValue } = field
  const value = staticValue(defaultValue)
  return {
    kind: 'primitive',
    type,
    isList,
    isNullable,
    filled: filledBy(defaultValue),
    value: value === undefined || value === null ? undefined : { of: sortedValue(value) },
    dbName,
    isReadOnly,
    renamedFrom: undefined,
  }
}

function filledBy(value: DefaultValue | null): Filled | undefined {
  if (value === null) return undefined
  if (value.source === 'connectorManaged') return 'auto'
  const isGenerated = value.onCreate !== undefined && value.onCreate.kind !== 'static'
  if (value.onUpdate === undefined) return isGenerated ? 'auto' : undefined
  return isGenerated ? 'always' : 'update'
}

function staticValue(value: DefaultValue | null): unknown {
  if (value?.source !== 'engineManaged' || value.onCreate?.kind !== 'static') return undefined
  return value.onCreate.valueEncoded
}
