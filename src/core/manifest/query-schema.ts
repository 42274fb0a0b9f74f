/** Collections → the operations that they serve (contract 4): their arguments and their answers. */
import type { Collection, RelationField } from '../model/model.ts'
import { isSortable } from '../plan/read.ts'
import { filterInput } from './filter-input.ts'
import type { InputField, Operation, OperationKind, OutputField, TypeReference } from './format.ts'
import type { Pools } from './pools.ts'
import { createInput, updateManyData, updateOneData } from './write-input.ts'

export function operationsOf(pools: Pools, collection: Collection): readonly Operation[] {
  const { apiName, key, isReadOnly } = collection
  const item: TypeReference = `o${itemOutput(pools, collection)}`
  const filter: InputField = { type: filterInput(pools, collection) }
  const filtered: Entry = ['filter', { ...filter, optional: true }]
  const operation = (
    kind: OperationKind,
    suffix: string,
    fields: readonly Entry[],
    output: TypeReference,
  ): Operation => [
    kind,
    pools.text(apiName),
    pools.input(`${collection.id} ${kind} arguments`, `${apiName}${suffix}`, () => ({ fields })),
    output,
  ]
  const operations = [
    operation('readMany', 'ListArguments', listArguments(pools, collection), `[${item}]`),
    ...(isReadOnly
      ? []
      : [
          operation(
            'create',
            'CreateArguments',
            [['data', { type: `[${createInput(pools, collection)}]` }]],
            `[${item}]`,
          ),
          operation(
            'updateMany',
            'UpdateArguments',
            [
              ['data', { type: updateManyData(pools, collection) }],
              ['filter', filter],
            ],
            `[${item}]`,
          ),
          operation('deleteMany', 'DeleteArguments', [['filter', filter]], `[${item}]?`),
        ]),
  ]
  if (key === undefined) return operations
  const keyed: Entry = ['key', { type: pools.primitive(key.type) }]
  return [
    ...operations,
    operation('readOne', 'ReadArguments', [keyed, filtered], item),
    ...(isReadOnly
      ? []
      : [
          operation(
            'updateOne',
            'UpdateOneArguments',
            [keyed, ['data', { type: updateOneData(pools, collection) }], filtered],
            item,
          ),
          operation('deleteOne', 'DeleteOneArguments', [keyed, filtered], `${item}?`),
        ]),
  ]
}

type Entry = readonly [name: string, field: InputField]

function listArguments(pools: Pools, collection: Collection): readonly Entry[] {
  const meta: Entry = ['meta', { type: pools.enumeration('ServiceMeta', ['totalCount']), optional: true }]
  return [...pageArguments(pools, collection), meta]
}

function pageArguments(pools: Pools, collection: Collection): readonly Entry[] {
  return [
    ['filter', { type: filterInput(pools, collection), optional: true }],
    ...(collection.primitives.some(isSortable)
      ? [['sort', { type: `[${sortSpecifier(pools, collection)}]`, optional: true }] as const]
      : []),
    ['limit', { type: pools.primitive({ name: 'int32' }), optional: true }],
    ['offset', { type: pools.primitive({ name: 'int64' }), optional: true }],
  ]
}

function sortSpecifier(pools: Pools, { id, apiName, primitives }: Collection): TypeReference {
  const options = pools.input('sort options', 'SortFieldOptions', () => ({
    fields: [
      ['direction', { type: pools.enumeration('ServiceSortDirection', ['asc', 'desc']), optional: true }],
      ['nulls', { type: pools.enumeration('ServiceSortNulls', ['first', 'last']), optional: true }],
    ],
  }))
  const index = pools.input(`${id} sort`, `${apiName}SortSpecifier`, () => ({
    fields: primitives
      .filter(isSortable)
      .map((field): Entry => [field.apiName, { type: `i${options}`, optional: true }]),
    constraints: { atMostOneField: true, atLeastOneField: true },
  }))
  return `i${index}`
}

function itemOutput(pools: Pools, collection: Collection): number {
  return pools.output(`${collection.id} item`, `${collection.apiName}CollectionOutput`, () => ({
    fields: [
      ...collection.primitives.map((field) => [field.apiName, { type: pools.value(field) }] as const),
      ...collection.relations.map((relation) => [relation.apiName, relationOutput(pools, relation)] as const),
    ],
  }))
}

function relationOutput(pools: Pools, relation: RelationField): OutputField {
  const { target, isList, isNullable } = relation
  const item: TypeReference = `o${itemOutput(pools, target)}`
  const parameters = relationArguments(pools, relation)
  if (!isList) {
    return { type: isNullable ? `${item}?` : item, ...(parameters !== undefined && { arguments: parameters }) }
  }
  const list = pools.output(`${target.id} list`, `${target.apiName}CollectionListOutput`, () => ({
    fields: [['data', { type: `[${item}]` }]],
  }))
  return { type: `o${list}`, ...(parameters !== undefined && { arguments: parameters }) }
}

/** What `deep` takes: a to-many all of a list, a nullable to-one a filter, a required to-one nothing. */
function relationArguments(pools: Pools, relation: RelationField): number | undefined {
  const { id, apiName, collection, target, isList, isNullable } = relation
  if (!isList && !isNullable) return undefined
  return pools.input(`${id} arguments`, `${collection.apiName}${apiName}RelationFieldArguments`, () => ({
    fields: pageArguments(pools, target)
      .filter(([name]) => isList || name === 'filter')
      .map(([name, field]): Entry => [`_${name}`, field]),
  }))
}
