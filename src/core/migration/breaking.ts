/** Finds the operations of an introspection that break clients of the API, by API names. */
import type { ModelRecords } from '../model/model.ts'
import type { SchemaOperation } from './diff/context.ts'

export type Breaking = { readonly collection: string; readonly field?: string; readonly operation: string }

/** The members of an operation's data that are read here. */
type Data = {
  readonly id?: string
  readonly operations?: readonly SchemaOperation[]
  readonly firstFieldId?: string
  readonly secondFieldId?: string | null
  readonly data?: { readonly firstField: { readonly id: string } }
  readonly apiName?: string
  readonly isReadOnly?: boolean
  readonly isNullable?: boolean
  readonly defaultValue?: object | null
}

export function breakingChanges(
  operations: readonly SchemaOperation[],
  { collections, primitiveFields, relationFields }: ModelRecords,
): readonly Breaking[] {
  const names = new Map(collections.map(({ id, apiName }) => [id, apiName]))
  const fields = new Map([...primitiveFields, ...relationFields].map((field) => [field.id, field]))
  const ofField = (id: string, operation: string): readonly Breaking[] => {
    const field = fields.get(id)
    const collection = names.get(field?.collectionId ?? '')
    return field === undefined || collection === undefined ? [] : [{ collection, field: field.apiName, operation }]
  }
  const relinked = new Set(operations.map(({ data }) => (data as Data).data?.firstField.id))
  const gone = new Set<string>()
  /** Omits fields that were reported before: a many-to-many field is deleted with either of two pairs. */
  const ofFields = (ids: readonly string[], operation: string): readonly Breaking[] =>
    ids.flatMap((id) => {
      if (gone.has(id)) return []
      gone.add(id)
      return ofField(id, operation)
    })
  const leadingThrough = (ids: readonly string[]) =>
    relationFields.flatMap(({ id, through }) =>
      through !== undefined && (ids.includes(through.nearId) || ids.includes(through.farId)) ? [id] : [],
    )

  return operations.flatMap(({ kind, data }) => {
    const { id = '', operations: inner = [], firstFieldId = '', secondFieldId } = data as Data
    const collection = names.get(id) ?? ''
    if (kind === 'deleteCollection') return [{ collection, operation: kind }]
    if (kind === 'deleteRelationFieldPair') {
      const pair = [firstFieldId, secondFieldId ?? '']
      return relinked.has(firstFieldId) ? [] : ofFields([...pair, ...leadingThrough(pair)], kind)
    }
    if (kind !== 'updateCollection') return []
    return inner.flatMap((change) => {
      const { id: fieldId = '', apiName: field = '', operations: changes = [] } = change.data as Data
      switch (change.kind) {
        case 'deletePrimitiveField':
          return ofField(fieldId, change.kind)
        case 'createPrimitiveField':
          return isRequired(change.data) ? [{ collection, field, operation: change.kind }] : []
        case 'updatePrimitiveField':
          return changes.filter(breaks).flatMap((one) => ofField(fieldId, one.kind))
        default:
          return breaks(change) ? [{ collection, operation: change.kind }] : []
      }
    })
  })
}

/** True for a field for which a create must now send a value. */
function isRequired({ isNullable, isReadOnly, defaultValue }: Data): boolean {
  return isNullable === false && isReadOnly !== true && defaultValue === null
}

function breaks({ kind, data }: SchemaOperation): boolean {
  if (kind === 'changeIsReadOnly') return (data as Data).isReadOnly === true
  return kind === 'changeType' || kind === 'changeIsList' || kind === 'changeIsNullable'
}
