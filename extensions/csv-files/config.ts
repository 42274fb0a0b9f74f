/** Validates the configuration of a data source over CSV files; every error names the member. */
import { InvalidConfiguration } from 'governed-data-service/connector-kit'

export type Config = { readonly baseUrl: string; readonly token?: string; readonly files: readonly CsvFile[] }

export type CsvFile = {
  readonly name: string
  /** Relative to baseUrl. */
  readonly path: string
  readonly key: string
  readonly fields: Readonly<Record<string, 'string' | 'int32' | 'float64' | 'boolean' | 'date'>>
  readonly delimiter: string
}

const types: readonly unknown[] = ['string', 'int32', 'float64', 'boolean', 'date']

export function readConfig(value: unknown): Config {
  const { baseUrl, token, files } = members(value, 'the configuration', ['baseUrl', 'token', 'files'])
  if (typeof baseUrl !== 'string' || !/^https?:\/\/.*\/$/.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new InvalidConfiguration('baseUrl must be an http address that ends in a slash')
  }
  if (token !== undefined && typeof token !== 'string') throw new InvalidConfiguration('token must be a text')
  if (!Array.isArray(files) || files.length === 0) throw new InvalidConfiguration('files must list at least one file')
  return { baseUrl, ...(token !== undefined && { token }), files: files.map(readFile) }
}

function readFile(value: unknown, index: number): CsvFile {
  const place = `files[${index}]`
  const known = ['name', 'path', 'key', 'fields', 'delimiter'] as const
  const { name, path, key, fields, delimiter = ',' } = members(value, place, known)
  if (typeof name !== 'string' || name === '') throw new InvalidConfiguration(`${place}.name must be a text`)
  if (typeof path !== 'string' || !/^[\w.-]+(\/[\w.-]+)*$/.test(path) || path.includes('..')) {
    throw new InvalidConfiguration(`${place}.path must be a path below baseUrl`)
  }
  if (typeof delimiter !== 'string' || delimiter.length !== 1) {
    throw new InvalidConfiguration(`${place}.delimiter must be one character`)
  }
  const columns = members(fields, `${place}.fields`)
  const wrong = Object.keys(columns).find((column) => !types.includes(columns[column]))
  if (wrong !== undefined) throw new InvalidConfiguration(`${place}.fields.${wrong} must be one of ${types.join(', ')}`)
  if (typeof key !== 'string' || !(key in columns))
    throw new InvalidConfiguration(`${place}.key must be one of its fields`)
  return { name, path, key, delimiter, fields: columns as CsvFile['fields'] }
}

/** Returns the members of an object; if `known` is given, others are refused. */
function members(value: unknown, place: string, known?: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidConfiguration(`${place} must be an object`)
  }
  const unexpected = known && Object.keys(value).find((name) => !known.includes(name))
  if (unexpected !== undefined) throw new InvalidConfiguration(`${place} has no member ${unexpected.slice(0, 50)}`)
  return value as Readonly<Record<string, unknown>>
}
