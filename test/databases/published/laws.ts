/**
 * What holds for any schema that is imported: each function asks a service and the database the same and returns the
 * differences, none where all is well.
 */
import type { Column, Table } from './catalog.ts'
import type { PublishedDialect } from './dialect.ts'
import type { Offered, OfferedField } from './offers.ts'
import type { Imported } from './served.ts'
import { expected, shown } from './shown.ts'

export type Subject = {
  readonly imported: Imported
  readonly dialect: PublishedDialect
  readonly collection: Offered
  readonly table: Table
}

type Item = Readonly<Record<string, unknown>>
/** A row as the service should show it, by the columns of its collection. */
export type Row = { readonly inSql: readonly (string | null)[]; readonly asShown: readonly string[] }

export function columnOf({ table }: Subject, { dbName }: OfferedField): Column {
  const column = table.columns.find(({ name }) => name === dbName)
  if (column === undefined) throw new Error(`${table.id} has no column ${dbName}`)
  return column
}

function nameOf({ dialect, table }: Subject): string {
  return `${dialect.quote(table.schema)}.${dialect.quote(table.name)}`
}

export async function rowsInSql(subject: Subject, rest = ''): Promise<readonly Row[]> {
  const { collection, dialect, imported } = subject
  // A driver may refuse a column by its name.
  const wanted = collection.fields.map((field, place) => `${dialect.text(columnOf(subject, field))} as c${place}`)
  const text = `select ${wanted.join(', ') || '1'} from ${nameOf(subject)}${rest}`
  const rows = await imported.driver.query({ text, params: [] })
  return rows.map((row) => ({
    inSql: row,
    asShown: collection.fields.map((field, place) => (field.type === 'geometry' ? '' : expected(row[place], field))),
  }))
}

export function shownRow({ fields }: Offered, item: Item): readonly string[] {
  return fields.map((field) => (field.type === 'geometry' ? '' : shown(item[field.apiName], field)))
}

type Read = { readonly items: readonly Item[] } | { readonly fault: string }

export async function read({ imported, collection }: Subject, query: object): Promise<Read> {
  const search = Object.entries({ limit: -1, ...query }).map(
    ([name, value]) => `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`,
  )
  const path = `items/${encodeURIComponent(collection.apiName)}?${search.join('&')}`
  const { status, body, text } = await imported.send('GET', path)
  if (status !== 200) return { fault: `GET ${decodeURIComponent(path)} answered ${status}: ${text.slice(0, 400)}` }
  return { items: (body as { data: readonly Item[] }).data }
}

export async function readFaults(subject: Subject): Promise<readonly string[]> {
  const answer = await read(subject, {})
  if ('fault' in answer) return [answer.fault]
  return differences(subject, answer.items, await rowsInSql(subject)).map((one) => `${subject.table.id}: ${one}`)
}

/** Rows that only one of both has, each beside the other side's that is nearest to it. */
export function differences(
  { collection, table }: Subject,
  items: readonly Item[],
  rows: readonly Row[],
): readonly string[] {
  const found = items.map((item) => settled(table, shownRow(collection, item)))
  const wanted = rows.map(({ asShown }) => settled(table, asShown))
  const missing = without(wanted, found)
  const unexpected = without(found, wanted)
  const unlike = (one: readonly string[], other: readonly string[]) =>
    one.filter((value, at) => value !== other[at]).length
  const told = missing.map((row) => {
    const [near] = [...unexpected].sort((one, other) => unlike(one, row) - unlike(other, row))
    if (near === undefined || unlike(near, row) > row.length / 2) return `lacks ${JSON.stringify(row)}`
    const fields = collection.fields.flatMap(({ apiName }, at) =>
      near[at] === row[at] ? [] : [`${apiName} is ${near[at]} instead of ${row[at]}`],
    )
    return fields.join()
  })
  const beyond = unexpected.slice(missing.length)
  return [...told, ...beyond.map((row) => `has ${JSON.stringify(row)} besides`)]
}

/** What a view aggregates it lists in any order, another one each time. */
function settled({ isView }: Subject['table'], row: readonly string[]): readonly string[] {
  return isView ? row.map((text) => text.split(', ').sort().join(', ')) : row
}

function without(rows: readonly (readonly string[])[], others: readonly (readonly string[])[]) {
  const counts = count(others.map((row) => JSON.stringify(row)))
  return rows.filter((row) => {
    const text = JSON.stringify(row)
    const left = counts.get(text) ?? 0
    counts.set(text, left - 1)
    return left <= 0
  })
}

function count(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** Both directions, by the rank that the database gives each row; rows of one rank may stand in any order. */
export async function sortFaults(subject: Subject, field: OfferedField): Promise<readonly string[]> {
  const { collection, dialect, imported, table } = subject
  const column = columnOf(subject, field)
  const name = dialect.compared(dialect.quote(column.name), column)
  const wanted = collection.fields.map((one, place) => `${dialect.text(columnOf(subject, one))} as c${place}`)
  const rowText = (row: readonly string[]) => JSON.stringify(settled(table, row))
  const text = `select dense_rank() over (order by ${name} is null, ${name}), ${wanted.join(', ')} from ${nameOf(subject)}`
  const rows = await imported.driver.query({ text, params: [] })
  const ranks = new Map(
    rows.map(([rank, ...values]) => [
      rowText(collection.fields.map((one, at) => (one.type === 'geometry' ? '' : expected(values[at], one)))),
      Number(rank),
    ]),
  )
  const faults: string[] = []
  for (const direction of ['asc', 'desc']) {
    const answer = await read(subject, { sort: [{ [field.apiName]: { direction } }] })
    if ('fault' in answer) {
      faults.push(answer.fault)
      continue
    }
    const found = answer.items.map((item) => ranks.get(rowText(shownRow(collection, item))) ?? -1)
    const inOrder = [...found].sort((one, other) => (direction === 'asc' ? one - other : other - one))
    if (JSON.stringify(found) !== JSON.stringify(inOrder)) {
      faults.push(`${subject.table.id}.${column.name} (${column.type}) ${direction}: ${found} instead of ${inOrder}`)
    }
  }
  return faults
}

/** The path of an item. */
export function address({ collection }: Subject, item: Item): string {
  const parts = collection.key.map((name) => {
    const value = item[name]
    const isJson = collection.fields.some((field) => field.apiName === name && field.type === 'json')
    return typeof value === 'string' && !isJson ? value : JSON.stringify(value)
  })
  const quoted = parts.map((part) => {
    const isOdd = part === '' || part === '.' || part === '..' || part.startsWith('"')
    return encodeURIComponent(isOdd ? `"${part.replaceAll('"', '""')}"` : part)
  })
  return `items/${encodeURIComponent(collection.apiName)}/${quoted.join()}`
}

/** Writes each row back as it was read; nothing of the table changes. */
export async function writeFaults(subject: Subject): Promise<readonly string[]> {
  const { collection, imported, table } = subject
  const answer = await read(subject, {})
  if ('fault' in answer) return [answer.fault]
  const before = await rowsInSql(subject)
  const faults: string[] = []
  const written = collection.fields.filter(({ isReadonly }) => !isReadonly)
  for (const item of answer.items) {
    const path = address(subject, item)
    const body = Object.fromEntries(written.map(({ apiName }) => [apiName, item[apiName]]))
    const { status, body: answered, text } = await imported.send('PATCH', path, body)
    if (status !== 200) faults.push(`PATCH ${path} ${JSON.stringify(body)} answered ${status}: ${text.slice(0, 400)}`)
    else {
      const one = (answered as { data: Item }).data
      if (JSON.stringify(one) !== JSON.stringify(item)) {
        faults.push(`PATCH ${path} answered ${JSON.stringify(one)} instead of ${JSON.stringify(item)}`)
      }
    }
  }
  const kept = (text: string | null, place: number) =>
    collection.fields[place]?.type === 'json' ? withoutBlanks(text) : text
  const all = (rows: readonly Row[]) => rows.map(({ inSql }) => JSON.stringify(inSql.map(kept))).sort()
  const after = all(await rowsInSql(subject))
  const changed = all(before).filter((row) => !after.includes(row))
  return [
    ...faults,
    ...changed.map(
      (row) => `${table.id}: ${row} is no more, but one of ${after.filter((one) => !all(before).includes(one))}`,
    ),
  ]
}

/** Blanks between the parts of JSON, which `json` keeps, are the writer's: clients send none. */
function withoutBlanks(text: string | null): string | null {
  return text?.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1') ?? null
}
