/** The component schemas of a document: every type that its paths refer to, described once. */

import type { InputField } from '../manifest/format.ts'
import { createInterner, type Description } from '../manifest/interner.ts'
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
  const followed = new Map<string, RelationField>()

  /**
   * A component for the `deep` arguments of each relation, with the relations behind it as members. Does not use
   * `allOf`, since viewers cannot resolve circular references through it.
   */
  function refer(relation: RelationField): JsonSchema | undefined {
    const own = relationArguments(interner, relation)
    if (own === undefined && interner.relations(relation.target, 'read').length === 0) return undefined
    const name =
      own === undefined ? `${relation.collection.apiName}.${relation.apiName}` : interner.nameOf('input', own)
    followed.set(name, relation)
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
      const argumentsOf = new Map<string, Description<InputField>>()
      for (const { side, name, description } of interner.described()) {
        if (side === 'output') yield [name, schemas.output(description)]
        else if (isOfRelation.test(name)) argumentsOf.set(name, description)
        else yield [name, schemas.input(description)]
      }
      for (const [name, collection] of deep) {
        yield [name, { type: 'object', properties: relationProperties(collection) }]
      }
      // The map grows during the iteration: a relation leads to others.
      for (const [name, { target }] of followed) {
        const own = schemas.input(argumentsOf.get(name) ?? { fields: [] })
        yield [name, { ...own, properties: { ...(own.properties as object), ...relationProperties(target) } }]
      }
      yield* Object.entries(schemas.shared())
    },
  }
}

/** Names that were taken end with a number. */
const isOfRelation = new RegExp(`${RELATION_ARGUMENTS}\\d*$`)

const responseMeta: JsonSchema = {
  type: 'object',
  properties: { totalCount: { type: 'integer', minimum: 0, description: 'All items that match.' } },
  additionalProperties: false,
}
