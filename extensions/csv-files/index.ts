/**
 * Read-only collections from CSV files on an HTTP server. Every file is fetched whole, and again only if its ETag has
 * changed; the connector kit filters, sorts and pages the rows.
 *
 * Configuration: {
 *   baseUrl: 'https://files.example.com/open-data/',
 *   token?: sent as Bearer,
 *   files: [{ name: 'airports', path: 'airports.csv', key: 'iata', fields: { iata: 'string', elevation: 'int32' }, delimiter?: ';' }]
 * }
 * `fields` lists the columns to read, by the names in the file's header, with their types; an empty cell is null.
 */
import {
  answerRead,
  CollectionNotFound,
  ConnectionFailed,
  defineConnector,
  InvalidConfiguration,
  type Item,
  request,
} from 'governed-data-service/connector-kit'
import { type Config, type CsvFile, readConfig } from './config.ts'
import { parseCsv } from './csv.ts'

export const { preflight, setup } = defineConnector<Config>({
  config: readConfig,

  preflight: ({ baseUrl }) => ({
    permissions: [{ permission: `net:${new URL(baseUrl).host}`, reason: 'The CSV files are there' }],
  }),

  setup(config) {
    const load = createLoader(config)
    return {
      introspect: () => ({ schema: { collections: config.files.map(declare) } }),

      async query(request) {
        const file = config.files.find(({ name }) => name === request.collection)
        if (file === undefined || (request.operation !== 'readMany' && request.operation !== 'readOne')) {
          throw new Error(`${request.operation} of ${request.collection} was never declared`)
        }
        return answerRead(request, await load(file))
      },

      async testConnection() {
        for (const file of config.files) await load(file)
        return { ok: true }
      },
    }
  },
})

function declare({ name, key, fields }: CsvFile) {
  const testing = ['eq', 'neq', 'null'] as const
  const comparing = [...testing, 'in', 'nin'] as const
  const ordering = [...comparing, 'lt', 'lte', 'gt', 'gte', 'between'] as const
  const searching = [...comparing, 'contains', 'icontains', 'starts_with', 'ends_with'] as const
  const operatorsOf = { string: searching, int32: ordering, float64: ordering, boolean: testing, date: ordering }
  const entries = Object.entries(fields)
  return {
    name,
    fields: entries.map(([column, type]) => ({
      name: column,
      type: { name: type },
      isNullable: column !== key,
      isList: false,
      isReadOnly: true,
    })),
    key: [key],
    operations: ['readMany', 'readOne'] as const,
    filter: Object.fromEntries(entries.map(([column, type]) => [column, operatorsOf[type]])),
    sort: Object.keys(fields),
    count: true,
    offset: true,
    after: true,
  }
}

type Kept = { readonly tag: string; readonly records: readonly Item[] }

/** Caches each file as long as its ETag stays the same. */
function createLoader({ baseUrl, token }: Config) {
  const kept = new Map<string, Kept>()

  return async function load(file: CsvFile): Promise<readonly Item[]> {
    const before = kept.get(file.name)
    const response = await request(new URL(file.path, baseUrl), {
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(before !== undefined && { 'If-None-Match': before.tag }),
      },
    })
    if (response.status === 304 && before !== undefined) return before.records
    if (response.status === 404) throw new CollectionNotFound(`the file of ${file.name} is not there`)
    const records = recordsOf(file, await response.text())
    const tag = response.headers.get('ETag')
    if (tag !== null) kept.set(file.name, { tag, records })
    return records
  }
}

function recordsOf({ name, fields, delimiter }: CsvFile, text: string): readonly Item[] {
  const [header = [], ...rows] = parseCsv(text, delimiter)
  const columns = Object.entries(fields).map(([column, type]) => {
    const index = header.indexOf(column)
    if (index === -1) throw new InvalidConfiguration(`the file of ${name} has no column ${column}`)
    return { column, type, index }
  })
  return rows.map((cells, row) =>
    Object.fromEntries(
      columns.map(({ column, type, index }) => {
        const value = cellValue(cells[index] ?? '', type)
        if (value === undefined) throw new ConnectionFailed(`row ${row + 2} of ${name} has no ${type} in ${column}`)
        return [column, value]
      }),
    ),
  )
}

/** Returns undefined for a text that is not of the type. */
function cellValue(cell: string, type: CsvFile['fields'][string]): unknown {
  if (cell === '') return null
  if (type === 'boolean') return { true: true, false: false }[cell.toLowerCase()]
  if (type === 'date') return /^\d{4}-\d\d-\d\d$/.test(cell) ? cell : undefined
  if (type === 'string') return cell
  const number = Number(cell)
  return Number.isFinite(number) ? number : undefined
}
