/**
 * Query strings at random: some that are right, some that are right but for one thing, some spelled by dice. Only what
 * they look like is decided here; whatever they are, the service must answer them.
 */
import { operatorsOf } from '../../../src/core/model/operator.ts'
import { operatorsAtPath } from '../../../src/core/model/vocabulary.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { build } from '../../support/data/build.ts'
import type { CollectionSketch, FieldSketch } from '../../support/data/model-sketch.ts'
import type { Dice } from './dice.ts'
import { anyName, anyText, escaped, hostile, names } from './values.ts'

export type Sketches = ReadonlyMap<string, CollectionSketch>

export function anySearch(dice: Dice, sketches: Sketches, collection: CollectionSketch): string {
  if (dice.spoils(8)) return dice.some(6, () => anyPair(dice)).join('&')
  const related = dice.once(3) ? deep(dice, sketches, collection) : []
  const parts = [
    ...(related.length > 0 && !dice.spoils(10) ? [] : dice.once(2) ? fields(dice, sketches, collection) : []),
    ...(dice.once(2) ? [] : filter(dice, sketches, { collection, place: 'filter', depth: 0 })),
    ...(dice.once(3) ? sort(dice, collection, 'sort') : []),
    ...(dice.once(3) ? [`limit=${pageNumber(dice)}`] : []),
    ...(dice.once(4) ? [`offset=${Math.abs(Number(pageNumber(dice)))}`] : []),
    ...(dice.once(5) ? [dice.spoils(6) ? `meta=${escaped(anyName(dice))}` : 'meta=totalCount'] : []),
    ...related,
    ...(dice.spoils(15) ? [anyPair(dice)] : []),
  ]
  const search = parts.join('&')
  return dice.spoils(3) ? mutated(dice, search) : search
}

/** The same as the body of QUERY; what is no query string is sent as it is. */
export function asBody(search: string): string {
  try {
    return JSON.stringify(parseBrackets(search), (_, value) => (isCount(value) ? Number(value) : value))
  } catch {
    return search
  }
}

function isCount(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d{1,9}$/.test(value)
}

/** Of routes that know fields and a filter only. */
export function anyItemSearch(dice: Dice, sketches: Sketches, collection: CollectionSketch): string {
  if (dice.spoils(10)) return anySearch(dice, sketches, collection)
  return [
    ...(dice.once(2) ? fields(dice, sketches, collection) : []),
    ...(dice.once(4) ? filter(dice, sketches, { collection, place: 'filter', depth: 0 }) : []),
  ].join('&')
}

/** Of routes that write what a filter matches. */
export function anyFilterSearch(dice: Dice, sketches: Sketches, collection: CollectionSketch): string {
  if (dice.spoils(5)) return anyItemSearch(dice, sketches, collection)
  return [
    ...(dice.once(2) ? fields(dice, sketches, collection) : []),
    ...filter(dice, sketches, { collection, place: 'filter', depth: 0 }),
  ].join('&')
}

function pageNumber(dice: Dice): string {
  return dice.pick(dice.spoils(4) ? oddNumbers : ['0', '-1', '1', '2', '25', '100', '10000'])
}

const oddNumbers = ['10001', '-2', '1e3', '', '0x10', '999999999999999', '9'.repeat(15), '9'.repeat(30), '1.5', '٣']

/** Right up to a point: one change of a few characters, or two parts mixed. */
export function mutated(dice: Dice, text: string): string {
  let result = text
  for (let count = dice.below(3); count >= 0; count -= 1) {
    const at = dice.below(result.length + 1)
    const end = Math.min(result.length, at + dice.below(6))
    const replacements = [
      () => '',
      () => dice.pick(splinters),
      () => result.slice(dice.below(result.length + 1)).slice(0, 20),
      () => escaped(dice.pick(hostile)).slice(0, 200),
    ]
    result = result.slice(0, at) + dice.pick(replacements)() + result.slice(end)
  }
  return result
}

const splinters = [
  ...'[]&=%,._+*-!#?;:|\\/"\'<>{}()$@~^` 0aé',
  '[]',
  '[[',
  ']]',
  '&&',
  '==',
  '%00',
  '%5B',
  '%5D',
  '%zz',
  '%',
  '%C0%80',
  '%ED%A0%80',
  '%F0%9F%98%80',
  '\u00ff\u00fe',
  '[0]',
  '[1]',
  '[-1]',
  '[999999999]',
  '[2000]',
  '[00]',
  '[__proto__]',
  '[constructor][prototype]',
  '[_and][0]',
  '[_or][]',
  '[_not]',
  '[_in][0]',
  '.author',
  ',*',
  '&filter=1',
  '&access_token=',
  '&deep[author]',
  '[a]'.repeat(40),
]

/** Nothing but pieces. */
function anyPair(dice: Dice): string {
  const piece = () => (dice.once(4) ? dice.pick(splinters) : escaped(anyName(dice)).slice(0, 300))
  const brackets = dice.some(6, () => (dice.once(8) ? piece() : `[${dice.once(6) ? '' : piece()}]`)).join('')
  const name = dice.once(2) ? dice.pick(['filter', 'fields', 'sort', 'limit', 'offset', 'meta', 'deep']) : piece()
  return `${name}${brackets}${dice.once(6) ? '' : '='}${dice.once(5) ? '' : piece()}`
}

function fields(dice: Dice, sketches: Sketches, collection: CollectionSketch): readonly string[] {
  const paths = [path(dice, sketches, collection), ...dice.some(3, () => path(dice, sketches, collection))]
  const separate = () => paths.map((one) => `fields${dice.once(4) ? '[0]' : '[]'}=${one}`)
  return dice.spoils(5) ? separate() : [`fields=${paths.join(',')}`]
}

function path(dice: Dice, sketches: Sketches, collection: CollectionSketch): string {
  const parts: string[] = []
  let here = collection
  while (here.relations.length > 0 && parts.length < 9 && dice.once(2)) {
    const relation = dice.pick(here.relations)
    parts.push(relation.name)
    here = sketches.get(relation.target) ?? collection
  }
  if (dice.spoils(25)) parts.push(escaped(anyName(dice)))
  else if (parts.length === 0 || !dice.once(4)) parts.push(dice.once(3) ? '*' : dice.pick(here.fields).name)
  return parts.join('.')
}

type Scope = { readonly collection: CollectionSketch; readonly place: string; readonly depth: number }

function filter(dice: Dice, sketches: Sketches, scope: Scope): readonly string[] {
  const { collection, place, depth } = scope
  const deeper = (inner: string, target = collection) =>
    filter(dice, sketches, { collection: target, place: inner, depth: depth + 1 })
  if (depth < 9 && dice.once(6)) {
    const logical = dice.pick(['_and', '_or', '_not'])
    if (logical === '_not') return deeper(`${place}[_not]`)
    const [first, ...others] = dice.some(3, (index) => deeper(`${place}[${logical}][${index}]`))
    return [...(first ?? deeper(`${place}[${logical}][0]`)), ...others.flat()]
  }
  if (depth < 10 && collection.relations.length > 0 && dice.once(3)) {
    const { name, target, isList } = dice.pick(collection.relations)
    const quantifier = isList === !dice.spoils(10) ? `[${dice.pick(['_some', '_every', '_none'])}]` : ''
    return deeper(`${place}[${name}]${quantifier}`, sketches.get(target))
  }
  const searchable = collection.fields.filter(({ type, isList }) => (!isList || dice.once(2)) && type !== 'bytes')
  return [condition(dice, dice.pick(dice.spoils(6) ? collection.fields : searchable), place)]
}

function condition(dice: Dice, field: FieldSketch, place: string): string {
  const name = dice.spoils(30) ? escaped(anyName(dice)) : field.name
  const value = () => (field.isNullable && dice.spoils(12) ? 'null' : escaped(anyText(dice, field)).slice(0, 9_000))
  const operator = operatorFor(dice, field)
  const at = `${place}[${name}]`
  switch (operator) {
    case '':
      return `${at}=${value()}`
    case '_null':
      return `${at}[_null]=${dice.spoils(4) ? dice.pick(['null', '1', '']) : dice.pick(['true', 'false'])}`
    case '_in':
    case '_nin':
    case '_has_any':
    case '_has_all':
      return `${at}[${operator}][0]=${value()}${dice
        .some(dice.once(20) ? 60 : 4, (index) => `&${at}[${operator}][${index + 1}]=${value()}`)
        .join('')}`
    case '_empty':
      return `${at}[_empty]=${dice.spoils(4) ? value() : dice.pick(['true', 'false'])}`
    case '_path': {
      const steps = [escaped(anyName(dice)), ...dice.some(3, () => escaped(anyName(dice)).slice(0, 300))]
      const path = steps.map((step, index) => `${at}[_path][${index}]=${step}`).join('&')
      return dice.spoils(6) ? path : `${path}&${at}[${dice.pick(operatorsAtPath)}]=${value()}`
    }
    case '_between':
    case '_nbetween':
      return `${at}[${operator}][0]=${value()}&${at}[${operator}][1]=${value()}`
    default:
      return `${at}[${operator}]=${value()}`
  }
}

/** By far most often one that the field has; the empty text stands for none. */
function operatorFor(dice: Dice, { type, isList, isNullable }: FieldSketch): string {
  if (dice.spoils(10)) return dice.pick(names)
  const own = operatorsOf(build.type(type), isList)
  return dice.pick(['', ...own, ...(isNullable || dice.spoils(4) ? ['_null'] : [])])
}

function sort(dice: Dice, collection: CollectionSketch, place: string): readonly string[] {
  return dice.some(3, (index) => {
    const sortable = collection.fields.filter(({ type, isList }) => !isList && type !== 'bytes')
    const name = dice.spoils(20) ? escaped(anyName(dice)) : dice.pick(sortable).name
    if (dice.spoils(8)) return `${place}[${index}][${name}]=${dice.pick(['asc', 'up', ''])}`
    const option = dice.once(4)
      ? `[nulls]=${dice.pick(['first', 'last'])}`
      : `[direction]=${dice.pick(['asc', 'desc'])}`
    return `${place}[${index}][${name}]${option}`
  })
}

function deep(dice: Dice, sketches: Sketches, collection: CollectionSketch): readonly string[] {
  if (collection.relations.length === 0) return []
  const lists = collection.relations.filter(({ isList }) => isList)
  const { name, target } = dice.pick(lists.length === 0 || dice.spoils(3) ? collection.relations : lists)
  const beyond = sketches.get(target) ?? collection
  const place = `deep[${name}]`
  if (lists.length === 0 && !dice.spoils(2)) {
    return [`fields=${name}.*`, ...filter(dice, sketches, { collection: beyond, place: `${place}[_filter]`, depth: 1 })]
  }
  return [
    ...(dice.spoils(8) ? [] : [`fields=*,${name}.*`]),
    ...(dice.once(2) ? [`${place}[_limit]=${pageNumber(dice)}`] : []),
    ...(dice.once(3) ? [`${place}[_offset]=${Math.abs(Number(pageNumber(dice)))}`] : []),
    ...(dice.once(2) ? sort(dice, beyond, `${place}[_sort]`) : []),
    ...(dice.once(2) ? filter(dice, sketches, { collection: beyond, place: `${place}[_filter]`, depth: 1 }) : []),
    ...(dice.spoils(15) ? [`${place}[${escaped(anyName(dice))}]=1`] : []),
  ]
}
