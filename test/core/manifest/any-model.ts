/** Models of up to four collections: every type, with and without keys, read-only parts, relations to and fro. */
import fc from 'fast-check'
import type { FieldType } from '../../../src/core/model/field-type.ts'
import {
  buildModel,
  type DefaultValue,
  type Model,
  type ModelRecords,
  noRecords,
} from '../../../src/core/model/model.ts'

export function anyModel(): fc.Arbitrary<Model> {
  return fc
    .array(collectionSpec, { minLength: 1, maxLength: 4 })
    .chain((specs) =>
      fc
        .array(relationSpec(specs.length), { maxLength: 5 })
        .map((relations) => buildModel(1, records(specs, relations))),
    )
}

const types: readonly FieldType[] = [
  { name: 'int32' },
  { name: 'int64' },
  { name: 'float64' },
  { name: 'uuid' },
  { name: 'boolean' },
  { name: 'date' },
  { name: 'json' },
  { name: 'bytes' },
  { name: 'geometry' },
  { name: 'string', params: { length: 'unlimited' } },
  { name: 'string', params: { length: 'fixed', value: 20 } },
  { name: 'decimal', params: { kind: 'unconstrained' } },
  { name: 'decimal', params: { kind: 'constrained', precision: 10, scale: 2 } },
]

const defaults: readonly (DefaultValue | null)[] = [
  null,
  null,
  { source: 'connectorManaged' },
  { source: 'connectorManaged', isAutoincrement: true },
]

const fieldSpec = fc.record({
  type: fc.constantFrom(...types),
  isNullable: fc.boolean(),
  isList: fc.boolean(),
  isReadOnly: fc.integer({ min: 0, max: 5 }).map((chance) => chance === 0),
  defaultValue: fc.constantFrom(...defaults),
  isRenamed: fc.boolean(),
})

const collectionSpec = fc.record({
  fields: fc.array(fieldSpec, { maxLength: 5 }),
  hasKey: fc.integer({ min: 0, max: 5 }).map((chance) => chance > 0),
  isReadOnly: fc.integer({ min: 0, max: 5 }).map((chance) => chance === 0),
  hasNamespace: fc.boolean(),
})

const relationSpec = (collections: number) =>
  fc.record({
    child: fc.nat({ max: collections - 1 }),
    parent: fc.nat({ max: collections - 1 }),
    column: fc.constantFrom<Column[]>('required', 'nullable', 'key'),
    hasOpposite: fc.boolean(),
    isOneToOne: fc.boolean(),
  })

/** What the foreign key is: the child's own primary key, or a column of its own. */
type Column = 'required' | 'nullable' | 'key'
type CollectionSpec = typeof collectionSpec extends fc.Arbitrary<infer T> ? T : never
type RelationSpec = ReturnType<typeof relationSpec> extends fc.Arbitrary<infer T> ? T : never

function records(specs: readonly CollectionSpec[], relations: readonly RelationSpec[]): ModelRecords {
  const pairs = relations.map((spec, index) => relationRecords(spec, index))
  return {
    ...noRecords,
    sources: [{ id: 'source', apiName: '_system', provider: 'postgres' }],
    namespaces: [{ id: 'data', sourceId: 'source', dbName: 'service_shop_data', isSystem: false }],
    collections: specs.map(({ isReadOnly, hasNamespace }, index) => ({
      id: `c${index}`,
      sourceId: 'source',
      namespaceId: hasNamespace ? 'data' : null,
      dbName: hasNamespace ? `c${index}` : `table ${index}`,
      apiName: `c${index}`,
      isReadOnly,
      isSystem: false,
      isView: isReadOnly,
    })),
    primitiveFields: specs.flatMap(({ fields }, index) => {
      const collectionId = `c${index}`
      const plain = {
        collectionId,
        type: types[1] as FieldType,
        isNullable: false,
        isList: false,
        isReadOnly: false,
        isLoose: false,
        native: null,
      }
      return [
        { ...plain, id: `${collectionId}.id`, dbName: 'id', apiName: 'id', defaultValue: null },
        ...fields.map(({ isRenamed, ...field }, place) => ({
          ...field,
          isLoose: false,
          native: null,
          id: `${collectionId}.f${place}`,
          collectionId,
          apiName: `f${place}`,
          dbName: isRenamed ? `column ${place}` : `f${place}`,
        })),
        ...relations.flatMap(({ child, column }, place) =>
          child !== index || column === 'key'
            ? []
            : [
                {
                  ...plain,
                  id: `${collectionId}.r${place}Id`,
                  dbName: `r${place}Id`,
                  apiName: `r${place}Id`,
                  isNullable: column === 'nullable',
                  defaultValue: null,
                },
              ],
        ),
      ]
    }),
    relationFields: pairs.flatMap(({ fields }) => fields),
    constraints: pairs.map(({ constraint }) => constraint),
    indexes: specs.flatMap(({ hasKey }, index) =>
      hasKey
        ? [
            {
              id: `c${index}_pkey`,
              collectionId: `c${index}`,
              dbName: 'pkey',
              kind: 'primary',
              fieldIds: [`c${index}.id`],
            },
          ]
        : [],
    ),
  }
}

function relationRecords({ child, parent, column, hasOpposite, isOneToOne }: RelationSpec, place: number) {
  const forwardId = `r${place}`
  const backwardId = `b${place}`
  const isNullable = column === 'nullable'
  const forward = {
    id: forwardId,
    collectionId: `c${child}`,
    apiName: forwardId,
    oppositeCollectionId: `c${parent}`,
    oppositeRelationFieldId: hasOpposite ? backwardId : null,
    constraintId: `fk${place}`,
    isList: false,
    isNullable,
  }
  const backward = {
    id: backwardId,
    collectionId: `c${parent}`,
    apiName: backwardId,
    oppositeCollectionId: `c${child}`,
    oppositeRelationFieldId: forwardId,
    constraintId: null,
    isList: !isOneToOne,
    isNullable: true,
  }
  return {
    fields: hasOpposite ? [forward, backward] : [forward],
    constraint: {
      id: `fk${place}`,
      dbName: `fk ${place}`,
      onDelete: 'cascade',
      onUpdate: 'noAction',
      mappings: [
        {
          constrainedFieldId: column === 'key' ? `c${child}.id` : `c${child}.r${place}Id`,
          referencedFieldId: `c${parent}.id`,
        },
      ],
    } as const,
  }
}
