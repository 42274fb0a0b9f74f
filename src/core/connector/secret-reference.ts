/**
 * Named secrets in the configuration of a data source: an object of exactly `{"$secret": "name"}` stands for the secret of
 * that name. Everything else is the connector's own and passes unchanged.
 */
import { nested } from '../error.ts'

/** Names that the configuration refers to, each once. */
export function secretNames(config: unknown): readonly string[] {
  const names = new Set<string>()
  walk(config, (name) => {
    names.add(name)
    return name
  })
  return [...names]
}

/** The configuration with the values in place. Throws ServiceError `invalid` naming the place of one that is not there. */
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

/** Bodies are bounded in depth before they get here. */
function walk(value: unknown, replace: (name: string, path: string) => string, path = 'config'): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one, index) => walk(one, replace, `${path}[${index}]`))
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first?.[0] === '$secret' && typeof first[1] === 'string') return replace(first[1], path)
  return Object.fromEntries(entries.map(([name, one]) => [name, walk(one, replace, `${path}.${name.slice(0, 100)}`)]))
}
