/**
 * The component schemas of a document: every type that its paths refer to, each described once, however they refer to
 * each other.
 */
import { createPools } from '../manifest/pools.ts'
import { relationArguments } from '../manifest/query-schema.ts'
import type { Sight } from '../manifest/sight.ts'
import type { Collection } from '../model/model.ts'
import { errorSchema } from './answers.ts'
import type { PathContext } from './item-paths.ts'
import { component, createSchemas, type JsonSchema, type Lists, sharedNames } from './schema.ts'

export type Components = {
  /** With it paths are described, which names the types. */
  readonly context: PathContext
  /** Describes what has been named. */
  entries(): Generator<readonly [name: string, schema: JsonSchema]>
}

export function createComponents(sight: Sight, lists: Lists): Components {
  const pools = createPools(sight, sharedNames)
  const schemas = createSchemas(pools, lists)
  const deep = new Map<string, Collection>()
  const context: PathContext = {
    pools,
    schemas,
    deepOf(collection) {
      if (pools.relations(collection, 'read').length === 0) return undefined
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
      for (const { side, name, description } of pools.described()) {
        yield [name, side === 'input' ? schemas.input(description) : schemas.output(description)]
      }
      for (const [name, collection] of deep) yield [name, deepSchema(context, collection)]
      yield* Object.entries(schemas.shared())
    },
  }
}

const responseMeta: JsonSchema = {
  type: 'object',
  properties: { totalCount: { type: 'integer', minimum: 0, description: 'All items that match.' } },
  additionalProperties: false,
}

/** Per relation its own arguments and those of the relations behind it. */
function deepSchema({ pools, deepOf }: PathContext, collection: Collection): JsonSchema {
  const properties = pools.relations(collection, 'read').flatMap((relation) => {
    const own = relationArguments(pools, relation)
    const beyond = deepOf(relation.target)
    const parts = [
      ...(own === undefined ? [] : [component(pools.nameOf('input', own))]),
      ...(beyond === undefined ? [] : [component(beyond)]),
    ]
    return parts.length === 0 ? [] : [[relation.apiName, parts.length === 1 ? parts[0] : { allOf: parts }] as const]
  })
  return { type: 'object', properties: Object.fromEntries(properties) }
}
