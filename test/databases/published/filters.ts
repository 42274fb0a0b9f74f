/** Every operator that the manifest offers for a field, against a condition that is written by hand for the database. */
import type { Column } from './catalog.ts'
import type { PublishedDialect } from './dialect.ts'
import { columnOf, differences, read, rowsInSql, type Subject, shownRow } from './laws.ts'
import type { OfferedField } from './offers.ts'

/** Without a condition it is only tried: what lists and JSON values hold is compared in test/property. */
type Comparison = { readonly operator: string; readonly operand: unknown; readonly condition: string | undefined }

/** Every operator that is offered for a field, with values that are there. */
export async function filterFaults(subject: Subject, field: OfferedField): Promise<readonly string[]> {
  const { collection, dialect } = subject
  const column = columnOf(subject, field)
  const place = collection.fields.indexOf(field)
  const answer = await read(subject, {})
  if ('fault' in answer) return [answer.fault]
  const byRow = new Map(answer.items.map((item) => [JSON.stringify(shownRow(collection, item)), item[field.apiName]]))
  const values = new Map<string, unknown>()
  for (const { inSql, asShown } of await rowsInSql(subject)) {
    const text = inSql[place]
    const value = byRow.get(JSON.stringify(asShown))
    if (text != null && value !== undefined && value !== null) values.set(text, value)
  }
  const pairs = [...values].slice(0, 3)
  const isJson = field.operators.includes('_path')
  const tried = isJson ? field.operators.filter((operator) => ofWholeJson.includes(operator)) : field.operators
  const comparisons = tried.flatMap((operator) => comparisonsOf({ operator, pairs, column, dialect, isJson }))
  const faults: string[] = []
  for (const { operator, operand, condition } of comparisons) {
    const filtered = await read(subject, { filter: { [field.apiName]: { [operator]: operand } } })
    if ('fault' in filtered) faults.push(filtered.fault)
    else if (condition !== undefined) {
      const rows = await rowsInSql(subject, ` where ${condition}`)
      const of = `${subject.table.id}.${column.name} (${column.type}) ${operator} ${JSON.stringify(operand)}`
      faults.push(...differences(subject, filtered.items, rows).map((one) => `${of}: ${one}`))
    }
  }
  return faults
}

/** The others of JSON stand beside a path. */
const ofWholeJson: readonly string[] = ['_eq', '_neq', '_contains', '_has_key', '_null']

type Comparing = {
  readonly operator: string
  readonly pairs: readonly (readonly [inSql: string, shown: unknown])[]
  readonly column: Column
  readonly dialect: PublishedDialect
  readonly isJson: boolean
}

function comparisonsOf({ operator, pairs, column, dialect, isJson }: Comparing): readonly Comparison[] {
  const name = dialect.quote(column.name)
  const own = dialect.compared(name, column)
  const other = (text: string) => dialect.compared(dialect.literal(text, column), column)
  const same = (text: string) => dialect.same(own, other(text), column)
  const less = (text: string) => dialect.less(own, other(text), column)
  const more = (text: string) => dialect.less(other(text), own, column)
  const each = (condition: (text: string) => string) =>
    pairs.map(([text, operand]) => ({ operator, operand, condition: condition(text) }))
  const listed = (condition: (texts: readonly string[]) => string) =>
    pairs.length === 0
      ? []
      : [
          {
            operator,
            operand: pairs.slice(0, 3).map(([, value]) => value),
            condition: condition(pairs.slice(0, 3).map(([text]) => text)),
          },
        ]
  const between = (condition: (low: string, high: string) => string) =>
    pairs.slice(1, 3).map(([text, value]) => ({
      operator,
      operand: [pairs[0]?.[1], value],
      condition: condition(pairs[0]?.[0] ?? '', text),
    }))
  const atLeast = (text: string) => `(${more(text)} or ${same(text)})`
  const atMost = (text: string) => `(${less(text)} or ${same(text)})`
  const parts = (condition: (part: string) => string, cut: (text: readonly string[]) => readonly string[]) =>
    pairs.flatMap(([, value]) => {
      const part = cut([...String(value)]).join('')
      const literal = dialect.literal(part, { ...column, type: 'text' })
      return part === '' ? [] : [{ operator, operand: part, condition: condition(literal) }]
    })
  const whole = dialect.searched(name, column)
  const inside = (text: readonly string[]) => text.slice(Math.floor(text.length / 3), Math.floor(text.length / 3) + 2)
  const begins = (part: string) => `left(${whole}, char_length(${part})) = ${part} and ${dialect.within(part, whole)}`
  const only = (...operands: readonly unknown[]) =>
    operands.map((operand) => ({ operator, operand, condition: undefined }))
  const depth = isJson ? 1 : 6
  const elements = pairs.flatMap(([, value]) => [value].flat(depth)).filter((one) => one !== null)
  switch (operator) {
    case '_has':
      return only(...elements.slice(0, 3))
    case '_has_any':
      return [...only(elements), { operator, operand: [], condition: '1 = 0' }]
    case '_has_all':
      return [...only(elements), { operator, operand: [], condition: `${name} is not null` }]
    case '_empty':
      return [
        { operator, operand: true, condition: `cardinality(${name}) = 0` },
        { operator, operand: false, condition: `cardinality(${name}) > 0` },
      ]
    case '_has_key':
      return only('a')
    case '_eq':
      return each(same)
    case '_neq':
      return each((text) => `not (${same(text)})`)
    case '_lt':
      return each(less)
    case '_lte':
      return each(atMost)
    case '_gt':
      return each(more)
    case '_gte':
      return each(atLeast)
    case '_in':
      return listed((texts) => texts.map(same).join(' or '))
    case '_nin':
      return listed((texts) => `not (${texts.map(same).join(' or ')})`)
    case '_between':
      return between((low, high) => `${atLeast(low)} and ${atMost(high)}`)
    case '_nbetween':
      return between((low, high) => `not (${atLeast(low)} and ${atMost(high)})`)
    case '_contains':
      if (isJson) return only({}, [], 1)
      return parts((part) => dialect.within(part, whole), inside)
    case '_ncontains':
      return parts((part) => `not (${dialect.within(part, whole)})`, inside)
    case '_icontains':
      return parts((part) => dialect.within(dialect.lower(part), dialect.lower(whole)), inside)
    case '_nicontains':
      return parts((part) => `not (${dialect.within(dialect.lower(part), dialect.lower(whole))})`, inside)
    case '_starts_with':
      return parts(begins, (text) => text.slice(0, 2))
    case '_nstarts_with':
      return parts(
        (part) => `not (${begins(part)})`,
        (text) => text.slice(0, 2),
      )
    case '_ends_with':
      return parts(
        (part) => dialect.ends(whole, part),
        (text) => text.slice(-2),
      )
    case '_nends_with':
      return parts(
        (part) => `not (${dialect.ends(whole, part)})`,
        (text) => text.slice(-2),
      )
    case '_null':
      return [
        { operator, operand: true, condition: `${name} is null` },
        { operator, operand: false, condition: `${name} is not null` },
      ]
    default:
      throw new Error(`the suite does not know ${operator}`)
  }
}
