/** Rows at random for every collection of a shop, with references that hold, and filters' operands made of them. */
import fc, { type Arbitrary } from 'fast-check'
import { type Inside, insideOfJson } from './inside.ts'
import { fieldsOf, keyOf, type Shop, type TypeText } from './shop.ts'
import { anyValue, integerBounds, type Storage } from './values.ts'

/** Wire values by API name. */
export type Row = Readonly<Record<string, unknown>>
export type Rows = Readonly<Record<string, readonly Row[]>>

export function makeRows(shop: Shop, storage: Storage, seed: number): Rows {
  const rows: Record<string, readonly Row[]> = {}
  for (const collection of Object.keys(shop.collections)) {
    const count = counts[collection] ?? 40
    const found = fc.sample(anyRow({ shop, storage, rows }, collection), { seed, numRuns: count * 2 })
    const keyed = distinct(found.map(withKey(collection)), keyOf(shop, collection))
    const unique = shop.links.find(({ child, isOneToOne }) => child === collection && isOneToOne)
    rows[collection] = (unique === undefined ? keyed : distinct(keyed, unique.columns)).slice(0, count)
  }
  return rows
}

const counts: Readonly<Record<string, number>> = {
  regions: 4,
  owners: 14,
  categories: 4,
  samples: 170,
  prices: 20,
  words: 150,
}

type World = { readonly shop: Shop; readonly storage: Storage; readonly rows: Rows }

function anyRow({ shop, storage, rows }: World, collection: string): Arbitrary<Row> {
  const fields = fieldsOf(shop, collection).map(([name, type]) => {
    const value = special[`${collection}.${name}`] ?? anyValue(type, storage)
    return [name, type.isNullable ? fc.option(value, { nil: null, freq: 3 }) : value] as const
  })
  const references = shop.links.filter(({ child }) => child === collection)
  const parents = references.map(({ parent }) => anyParent(parent, rows[parent] ?? []))
  return fc.tuple(fc.record(Object.fromEntries(fields)), ...parents).map(([row, ...keys]) => {
    const linked: Record<string, unknown> = { ...row }
    references.forEach(({ columns }, index) => {
      columns.forEach((column, position) => {
        // A null among the columns of a reference stays: then it refers to nothing.
        if (linked[column] !== null) linked[column] = keys[index]?.[position]
      })
    })
    return linked
  })
}

/** The first is referred to far more often than the rest, so that a default limit of 100 is reached. */
function anyParent(parent: string, rows: readonly Row[]): Arbitrary<readonly unknown[]> {
  if (parent === 'samples' && rows.length === 0)
    return fc.integer({ min: 0, max: 169 }).map((index) => [sampleId(index)])
  const [first = {}, ...others] = rows
  const favourite = fc.constant(first)
  const row =
    others.length === 0 ? favourite : fc.oneof({ weight: 2, arbitrary: favourite }, fc.constantFrom(...others))
  return row.map((found) => Object.values(found))
}

const special: Readonly<Record<string, Arbitrary<unknown>>> = {
  'regions.id': fc.uuid({ version: 7 }),
  'regions.name': fc.constantFrom('North', 'south', '', '東'),
  'prices.sku': fc.constantFrom('a', 'A', 'ab', 'a😀', '😀😀', 'a\uffff', 'a ', '%', '_a', "o'k", 'ä', ''),
  'prices.currency': fc.constantFrom('EUR', 'eur', '€', ''),
  'members.code': fc.constantFrom('a', 'A', 'b', '', ' ', 'ä', '%', '_', 'a ', '😀'),
  'words.id': fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀', '\uffff'), maxLength: 5 }),
  'visits.score': fc.integer({ min: 0, max: 2 }),
  'visits.day': fc.constantFrom('2024-01-01', '2024-01-02'),
  'visits.note': fc.constantFrom('x', 'X', ''),
}

/** Of a self relation the keys have to be known before the rows are. */
function withKey(collection: string): (row: Row, index: number) => Row {
  return (row, index) => (collection === 'samples' ? { ...row, id: sampleId(index) } : row)
}

/** Neither in the order of the rows, nor without the extremes. */
function sampleId(index: number): number {
  if (index < 2) return index === 0 ? 2_147_483_647 : -2_147_483_648
  return ((index * 7919) % 1009) - 300
}

/** By key where there is one; the rows of `visits` may repeat. */
function distinct(rows: readonly Row[], key: readonly string[]): readonly Row[] {
  const [first = {}] = rows
  if (key.length === Object.keys(first).length) return rows
  return [...new Map(rows.map((row) => [JSON.stringify(key.map((name) => row[name])), row])).values()]
}

/** One value: as the oracle compares it, as a JSON body has it, and as a query string has it. */
export type Operand = { readonly value: unknown; readonly sent: unknown; readonly text: unknown }

export type Operands = {
  /** For comparisons. */
  readonly whole: readonly Operand[]
  /** For the operators that look into a text; `ascii` where case is ignored. */
  readonly parts: readonly Operand[]
  readonly ascii: readonly Operand[]
  /** Of lists and JSON. */
  readonly inside?: Inside
}

/** What a filter on `name` may be given: values of the rows, their neighbours, and some of neither. */
export function operandsOf(world: World, collection: string, name: string, type: TypeText): Operands {
  const stored = (world.rows[collection] ?? []).map((row) => row[name]).filter((value) => value !== null)
  const others = fc.sample(anyValue(type, world.storage), { seed: 1, numRuns: 8 })
  const known = stored.slice(0, 24)
  if (type.isList) {
    // An array of JSON is a value, of others a dimension.
    const depth = type.name === 'json' ? 1 : 6
    const elements = [...known, ...others].flat(depth).filter((one) => one !== null)
    const inside = { kind: 'list', elements: elements.map((one, index) => spelled(type, one, index)) } as const
    return { whole: [], parts: [], ascii: [], inside }
  }
  const whole = [...known, ...known.flatMap((value) => neighbours(type, value)), ...others]
  const parts = type.name === 'string' ? known.flatMap((value) => partsOf(String(value))) : []
  return {
    whole: whole.map((value, index) => spelled(type, value, index)),
    parts: [...parts, ...wildcards].map(plain),
    ascii: [...parts, ...wildcards].filter((text) => /^[ -~]*$/.test(text)).map((text) => plain(swapCase(text))),
    ...(type.name === 'json' && { inside: insideOfJson(known, 1) }),
  }
}

const wildcards = ['', '%', '_', '!', '\\', '!%', 'a', 'B', 'aa', '%_']

function plain(text: string): Operand {
  return { value: text, sent: text, text }
}

function neighbours(type: TypeText, value: unknown): readonly unknown[] {
  const bounds = integerBounds[type.name]
  if (bounds !== undefined) {
    const near = [BigInt(String(value)) - 1n, BigInt(String(value)) + 1n]
    const inRange = near.filter((one) => one >= bounds[0] && one <= bounds[1])
    return type.name.endsWith('64') ? inRange.map(String) : inRange.map(Number)
  }
  if (type.name !== 'string') return []
  const text = String(value)
  return [`${text}x`, `${text} `, swapCase(text), withoutAccents(text), text.slice(0, -1).toWellFormed()]
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '')
}

function partsOf(text: string): readonly string[] {
  const points = [...text]
  const middle = Math.floor(points.length / 2)
  const cuts = [points.slice(0, middle), points.slice(middle), points.slice(1, -1), points]
  return cuts.map((cut) => cut.join(''))
}

function swapCase(text: string): string {
  return text.replace(/[a-zA-Z]/g, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}

/** Every second operand is spelled in another way that means the same. */
function spelled({ name }: TypeText, value: unknown, index: number): Operand {
  const isOdd = index % 2 === 1
  switch (name) {
    case 'int64':
    case 'uint64': {
      const sent = isOdd && Number.isSafeInteger(Number(value)) ? Number(value) : value
      return { value, sent, text: isOdd ? String(value).replace(/\d/, '00$&') : value }
    }
    case 'decimal': {
      const text = String(value)
      const padded = text.includes('.') ? text.replace(/(\.\d*?)0*$/, '$1000') : `${text}.00`
      return { value, sent: isOdd ? padded : text, text: isOdd ? text.replace(/\d/, '0$&') : text }
    }
    case 'uuid': {
      const sent = isOdd ? String(value).toUpperCase() : value
      return { value, sent, text: sent }
    }
    case 'dateTimeWithTimezone': {
      const sent = isOdd ? inOffset(String(value)) : value
      return { value, sent, text: sent }
    }
    case 'json':
      return { value, sent: isOdd ? reversed(value) : value, text: jsonText(value, isOdd) }
    default:
      return { value, sent: value, text: String(value) }
  }
}

/** The same instant two and a half hours east, where its year has four digits. */
function inOffset(instant: string): string {
  if (/^(0001|9999)/.test(instant)) return instant
  const local = new Date(Date.parse(`${instant.slice(0, 19)}Z`) + 150 * 60_000).toISOString().slice(0, 19)
  return `${local}${instant.slice(19, -1)}+02:30`
}

/** Members in another order: the same object. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).reverse())
}

/** JSON text; an object of texts may stand in brackets, and a text that is no JSON may stand bare. */
function jsonText(value: unknown, isOdd: boolean): unknown {
  const isOfTexts =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).length > 0 &&
    Object.entries(value).every(([key, one]) => /^[a-z]+$/.test(key) && typeof one === 'string')
  if (isOdd && isOfTexts) return value
  return isOdd && value === 'text' ? value : JSON.stringify(value)
}
