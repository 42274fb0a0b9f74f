/** The component schemas of a document: every type that its paths refer to, described once. */

import { createInterner, type InputDescription } from '../manifest/interner.ts'
import type { ModelView } from '../manifest/model-view.ts'
import { RELATION_ARGUMENTS, relationArguments } from '../manifest/query-schema.ts'
import type { Collection, RelationField } from '../model/model.ts'
import { errorSchema } from './answers.ts'
import type { PathContext } from './item-paths.ts'
import { component, createSchemas, type JsonSchema, type Lists, sharedNames } from './schema.ts'

export type Components = {
  /** Used to describe paths; collects the types that they refer to. */
  readonly context: PathContext
  /** Describes every type referred to so far. */
  entries(): Generator<readonly [name: string, schema: JsonSchema]>
}

export function createComponents(view: ModelView, lists: Lists): Components {
  const interner = createInterner(view, sharedNames)
  const schemas = createSchemas(interner, lists)
  const deep = new Map<string, Collection>()
  const followed = new Map<string, { readonly target: Collection; readonly own: number | undefined }>()

  /**
   * A component for the `deep` arguments of a relation, with the relations behind it as members. All relations of one
   * kind to the same collection share it: one each would grow with the square of the relations to that collection.
   * Does not use `allOf`, since viewers cannot resolve circular references through it.
   */
  function refer(relation: RelationField): JsonSchema | undefined {
    const { target, isList } = relation
    const own = relationArguments(interner, relation)
    if (own === undefined && interner.relations(target, 'read').length === 0) return undefined
    const kind = own === undefined ? 'required' : isList ? 'list' : 'optional'
    const name = `${target.apiName}.${kind}Deep`
    if (!followed.has(name)) followed.set(name, { target, own })
    return component(name)
  }

  function relationProperties(collection: Collection): Readonly<Record<string, JsonSchema>> {
    const named = interner.relations(collection, 'read').map((relation) => [relation.apiName, refer(relation)] as const)
    return Object.fromEntries(named.filter((entry): entry is [string, JsonSchema] => entry[1] !== undefined))
  }

  const context: PathContext = {
    interner,
    schemas,
    deepOf(collection) {
      if (interner.relations(collection, 'read').length === 0) return undefined
      const name = `${collection.apiName}CollectionOutputDeepInput`
      deep.set(name, collection)
      return name
    },
  }
  return {
    context,
    *entries() {
      yield ['Error', errorSchema]
      yield ['ResponseMeta', responseMeta]
      const argumentsOf = new Map<string, InputDescription>()
      for (const { side, name, description } of interner.described()) {
        if (side === 'output') yield [name, schemas.output(description)]
        else if (isOfRelation.test(name)) argumentsOf.set(name, description)
        else yield [name, schemas.input(description)]
      }
      for (const [name, collection] of deep) {
        yield [name, { type: 'object', properties: relationProperties(collection) }]
      }
      // The map grows during the iteration: a relation leads to others.
      for (const [name, { target, own }] of followed) {
        const described = own === undefined ? undefined : argumentsOf.get(interner.nameOf('input', own))
        const schema = schemas.input(described ?? { fields: [] })
        yield [name, { ...schema, properties: { ...(schema.properties as object), ...relationProperties(target) } }]
      }
      yield* Object.entries(schemas.shared())
    },
  }
}

/** Names that were taken end with a number. */
const isOfRelation = new RegExp(`${RELATION_ARGUMENTS}\\d*$`)

const responseMeta: JsonSchema = {
  type: 'object',
  properties: {
    totalCount: { type: 'integer', minimum: 0, description: 'All items that match.' },
    totalEstimate: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'About how many items match; exact up to 1,000, null where it is not known in a moment.',
    },
    next: { type: ['string', 'null'], description: 'The cursor for `after` of the next page; null at the end.' },
    previous: { type: ['string', 'null'], description: 'The cursor for `before` of the previous page.' },
  },
  additionalProperties: false,
}
