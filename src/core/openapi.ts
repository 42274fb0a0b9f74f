/**
 * Builds the OpenAPI 3.1 document of a workspace from model and model view (docs/contract.md#openapi), as pieces of
 * JSON text in order. A model can have 10,000 collections: no piece needs the whole document, and other work can run
 * between pieces.
 */
import type { ModelView } from './manifest/model-view.ts'
import type { Model } from './model/model.ts'
import { aggregatePath, aggregateSchemas } from './openapi/aggregate-paths.ts'
import { errorComponents, headOf, securitySchemes } from './openapi/answers.ts'
import { batchPath, batchTag } from './openapi/batch-path.ts'
import { changesPath } from './openapi/changes-path.ts'
import { createComponents } from './openapi/components.ts'
import { itemHeaders, itemParameters } from './openapi/item-parameters.ts'
import { type ItemPaths, itemErrors, itemPaths } from './openapi/item-paths.ts'
import type { JsonSchema } from './openapi/schema.ts'

export type WorkspaceDocument = {
  readonly workspace: string
  readonly model: Model
  /** What the caller may see and do; everything else is left out. */
  readonly view: ModelView
  readonly version: string
}

export function* workspaceDocument({ workspace, model, view, version }: WorkspaceDocument): Generator<string> {
  const { context, entries } = createComponents(view, 'anyDimensions')
  const mappings: (readonly [string, JsonSchema])[] = []
  let isGrouped = false
  function* described(): Generator<readonly [name: string, schema: JsonSchema]> {
    yield* entries()
    if (isGrouped) yield* Object.entries(aggregateSchemas)
  }

  yield `${JSON.stringify(headOf(`Workspace ${workspace}`, ABOUT, version)).slice(0, -1)},"paths":{`
  for (const collection of model.collections.values()) {
    const address = `/api/${workspace}/items/${collection.apiName}`
    const grouped = aggregatePath(context, collection)
    const own = itemPaths(context, collection)
    const changes = changesPath(context, collection, own.isReadByKey)
    const paths = [
      ...addressed(address, own),
      ...(changes === undefined ? [] : ([[`${address}/{key}/changes`, changes, 'changes']] as const)),
      ...(grouped === undefined
        ? []
        : ([[`/api/${workspace}/aggregates/${collection.apiName}`, grouped, 'aggregates']] as const)),
    ]
    isGrouped ||= grouped !== undefined
    if (paths.length === 0) continue
    const separator = mappings.length === 0 ? '' : ','
    yield separator + paths.map(([path, item]) => `${JSON.stringify(path)}:${item}`).join()
    mappings.push([collection.apiName, Object.fromEntries(paths.map(([path, , name]) => [name, pointer(path)]))])
  }
  const [first] = mappings
  if (first !== undefined) yield `,${JSON.stringify(`/api/${workspace}/items`)}:${JSON.stringify(batchPath(first[0]))}`
  yield '},"components":{"schemas":{'
  let separator = ''
  for (const [name, schema] of described()) {
    yield `${separator}${JSON.stringify(name)}:${JSON.stringify(schema)}`
    separator = ','
  }
  const others = {
    parameters: { ...itemParameters, ...itemHeaders },
    responses: errorComponents(itemErrors),
    securitySchemes,
  }
  yield `},${JSON.stringify(others).slice(1)}`
  const tags = mappings.map(([name]) => ({ name, description: `Items of ${name}.` }))
  yield `,"tags":${JSON.stringify(first === undefined ? tags : [batchTag, ...tags])},"x-service-mappings":${JSON.stringify(Object.fromEntries(mappings))}}`
}

const ABOUT =
  'The items of this workspace as the caller may see them. Results lie under `data`; exactly one credential is presented, ' +
  'or none. 64-bit integers and decimals are texts. `filter`, `sort` and `deep` are written in brackets at any depth: ' +
  '`filter[_or][0][stock][_eq]=0`, `sort[0][title][direction]=desc`, `deep[author][posts][_limit]=2` for relations that ' +
  '`fields` names. An item that is missing and one that the caller may not read are both 404. Writes change all that they ' +
  'name or nothing.'

type Addressed = readonly [path: string, item: string, name: 'many' | 'one' | 'aggregates']

function addressed(address: string, { many, one }: ItemPaths): readonly Addressed[] {
  return [
    ...(many === undefined ? [] : ([[address, many, 'many']] as const)),
    ...(one === undefined ? [] : ([[`${address}/{key}`, one, 'one']] as const)),
  ]
}

/** The JSON pointer to a path, as a URI fragment. */
function pointer(path: string): JsonSchema {
  return {
    $ref: `#/paths/${encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%7E', '~')}`,
  }
}
