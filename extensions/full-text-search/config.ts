/** Validates the configuration of a data source over a search index; every error names the member. */
import { InvalidConfiguration } from 'governed-data-service/connector-kit'

export type Config = {
  readonly url: string
  readonly apiKey?: string
  readonly index: string
  readonly key: string
  readonly fields: Readonly<Record<string, 'string' | 'int32' | 'float64' | 'boolean'>>
  /** Fields that `contains` searches. */
  readonly search: readonly string[]
  /** Fields that the engine can filter by, and fields that it can sort by. */
  readonly filter: readonly string[]
  readonly sort: readonly string[]
}

const types: readonly unknown[] = ['string', 'int32', 'float64', 'boolean']
const known: readonly string[] = ['url', 'apiKey', 'index', 'key', 'fields', 'search', 'filter', 'sort']

export function readConfig(value: unknown): Config {
  if (!isObject(value)) throw new InvalidConfiguration('the configuration must be an object')
  const unexpected = Object.keys(value).find((name) => !known.includes(name))
  if (unexpected !== undefined)
    throw new InvalidConfiguration(`the configuration has no member ${unexpected.slice(0, 50)}`)
  const { url, apiKey, index, key, fields } = value
  if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new InvalidConfiguration('url must be an http address')
  }
  if (apiKey !== undefined && typeof apiKey !== 'string') throw new InvalidConfiguration('apiKey must be a text')
  if (typeof index !== 'string' || !/^[\w-]{1,200}$/.test(index)) {
    throw new InvalidConfiguration('index must be a name of letters, digits, dashes and underscores')
  }
  if (!isObject(fields)) throw new InvalidConfiguration('fields must be an object')
  for (const [name, type] of Object.entries(fields)) {
    if (!/^\w{1,100}$/.test(name)) throw new InvalidConfiguration('fields must have names of letters and digits')
    if (!types.includes(type)) throw new InvalidConfiguration(`fields.${name} must be one of ${types.join(', ')}`)
  }
  if (typeof key !== 'string' || !(key in fields)) throw new InvalidConfiguration('key must be one of the fields')
  const namesIn = (member: 'search' | 'filter' | 'sort') => readNames(value[member], member, fields)
  return {
    ...(apiKey !== undefined && { apiKey }),
    ...{ url, index, key, fields: fields as Config['fields'] },
    ...{ search: namesIn('search'), filter: namesIn('filter'), sort: namesIn('sort') },
  }
}

function readNames(value: unknown, member: string, fields: object): readonly string[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string' && name in fields)) {
    throw new InvalidConfiguration(`${member} must list names of fields`)
  }
  return value
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
