/**
 * Named secrets in the configuration of a data source: an object of exactly `{"$secret": "name"}` is replaced by the
 * secret of that name. Everything else is passed to the connector unchanged.
 */

import { nested } from '../error.ts'
import { shortName } from '../message-text.ts'

/** Returns the names that the configuration refers to, each once. */
export function secretNames(config: unknown): readonly string[] {
  const names = new Set<string>()
  walk(config, (name) => {
    names.add(name)
    return name
  })
  return [...names]
}

/** Replaces the references by `values`. Throws ServiceError `invalid` with the path of a name that `values` lacks. */
export function withSecrets(config: unknown, values: ReadonlyMap<string, string>): unknown {
  return walk(config, (name, path) => {
    const value = values.get(name)
    if (value !== undefined) return value
    throw nested('invalid', [
      'Failed to read the JSON body',
      path,
      'there is no secret of this name; PUT /api/{workspace}/secrets/{name} writes one',
    ])
  })
}

/** Recursion is safe: the depth of bodies is limited before. */
function walk(value: unknown, replace: (name: string, path: string) => string, path = 'config'): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one, index) => walk(one, replace, `${path}[${index}]`))
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first?.[0] === '$secret' && typeof first[1] === 'string') return replace(first[1], path)
  return Object.fromEntries(entries.map(([name, one]) => [name, walk(one, replace, `${path}.${shortName(name)}`)]))
}
