/** Validates the configuration of a data source over a JSON API; every error names the member. */
import { InvalidConfiguration } from 'governed-data-service/connector-kit'

export type Config = { readonly baseUrl: string; readonly token?: string; readonly resources: readonly Resource[] }

export type Resource = {
  readonly name: string
  readonly path: string
  readonly key: string
  readonly fields: Readonly<Record<string, FieldType>>
  readonly filter: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly sort?: { readonly parameter: string; readonly fields: readonly string[] }
  readonly paging?: { readonly limit: string; readonly offset: string; readonly size: number }
  readonly items?: string
  readonly total?: string
  readonly writable: boolean
}

type FieldType =
  | 'string'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'dateTimeWithTimezone'
  | 'json'

const types: readonly unknown[] = [
  ...['string', 'int32', 'int64', 'float64', 'decimal', 'boolean', 'date', 'dateTimeWithTimezone', 'json'],
]
const members = ['name', 'path', 'key', 'fields', 'filter', 'sort', 'paging', 'items', 'total', 'writable']

export function readConfig(value: unknown): Config {
  const { baseUrl, token, resources } = read(value, 'the configuration', ['baseUrl', 'token', 'resources'])
  if (typeof baseUrl !== 'string' || !/^https?:\/\/.*\/$/.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new InvalidConfiguration('baseUrl must be an http address that ends in a slash')
  }
  if (token !== undefined && typeof token !== 'string') throw new InvalidConfiguration('token must be a text')
  if (!Array.isArray(resources) || resources.length === 0) {
    throw new InvalidConfiguration('resources must list at least one resource')
  }
  return { baseUrl, ...(token !== undefined && { token }), resources: resources.map(readResource) }
}

function readResource(value: unknown, index: number): Resource {
  const place = `resources[${index}]`
  const given = read(value, place, members)
  const { key, filter = {}, sort, paging, items, total, writable = false } = given
  const fields = read(given.fields, `${place}.fields`)
  for (const [name, type] of Object.entries(fields)) {
    if (!types.includes(type))
      throw new InvalidConfiguration(`${place}.fields.${name} must be one of ${types.join(', ')}`)
  }
  if (typeof key !== 'string' || !(key in fields))
    throw new InvalidConfiguration(`${place}.key must be one of its fields`)
  if (typeof writable !== 'boolean') throw new InvalidConfiguration(`${place}.writable must be true or false`)
  const path = text(given.path, `${place}.path`)
  if (!/^[\w.-]+(\/[\w.-]+)*$/.test(path) || path.includes('..')) {
    throw new InvalidConfiguration(`${place}.path must be a path below baseUrl`)
  }
  return {
    ...{ name: text(given.name, `${place}.name`), path, key, writable, fields: fields as Resource['fields'] },
    filter: readFilter(filter, `${place}.filter`, fields),
    ...(sort !== undefined && { sort: readSort(sort, `${place}.sort`, fields) }),
    ...(paging !== undefined && { paging: readPaging(paging, `${place}.paging`) }),
    ...(items !== undefined && { items: text(items, `${place}.items`) }),
    ...(total !== undefined && { total: text(total, `${place}.total`) }),
  }
}

function readFilter(value: unknown, place: string, fields: object): Resource['filter'] {
  const filter = read(value, place, Object.keys(fields))
  return Object.fromEntries(
    Object.entries(filter).map(([field, parameters]) => {
      const own = Object.entries(read(parameters, `${place}.${field}`))
      return [field, Object.fromEntries(own.map(([name, to]) => [name, text(to, `${place}.${field}.${name}`)]))]
    }),
  )
}

function readSort(value: unknown, place: string, fields: object): NonNullable<Resource['sort']> {
  const sort = read(value, place, ['parameter', 'fields'])
  if (!Array.isArray(sort.fields) || !sort.fields.every((name) => typeof name === 'string' && name in fields)) {
    throw new InvalidConfiguration(`${place}.fields must list names of fields`)
  }
  return { parameter: text(sort.parameter, `${place}.parameter`), fields: sort.fields }
}

function readPaging(value: unknown, place: string): NonNullable<Resource['paging']> {
  const { limit, offset, size } = read(value, place, ['limit', 'offset', 'size'])
  if (!Number.isInteger(size) || Number(size) < 1)
    throw new InvalidConfiguration(`${place}.size must be a number of items`)
  return { limit: text(limit, `${place}.limit`), offset: text(offset, `${place}.offset`), size: Number(size) }
}

function text(value: unknown, place: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new InvalidConfiguration(`${place} must be a text`)
}

/** Returns the members of an object; if `known` is given, others are refused. */
function read(value: unknown, place: string, known?: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidConfiguration(`${place} must be an object`)
  }
  const unexpected = known && Object.keys(value).find((name) => !known.includes(name))
  if (unexpected !== undefined) throw new InvalidConfiguration(`${place} has no member ${unexpected.slice(0, 50)}`)
  return value as Readonly<Record<string, unknown>>
}
