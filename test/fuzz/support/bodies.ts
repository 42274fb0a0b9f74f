/** Bodies at random as JSON texts: flat items, and relation operations of every kind nested in them. */
import type { CollectionSketch, FieldSketch, RelationSketch } from '../../support/data/model-sketch.ts'
import type { Dice } from './dice.ts'
import { mutated, type Sketches } from './queries.ts'
import { anyJson, anyName, anyWrongJson } from './values.ts'

type Occasion = 'create' | 'update'

/** For POST: most often an array of items. */
export function anyItems(dice: Dice, sketches: Sketches, collection: CollectionSketch): string {
  if (dice.spoils(15)) return anyWrongJson(dice)
  const text = `[${dice.some(4, () => item(dice, sketches, { collection, occasion: 'create', depth: 0, back: undefined })).join(',')}]`
  return dice.spoils(10) ? mutated(dice, text) : text
}

/** For PATCH: most often one object. */
export function anyChange(dice: Dice, sketches: Sketches, collection: CollectionSketch): string {
  if (dice.spoils(15)) return anyWrongJson(dice)
  const text = item(dice, sketches, { collection, occasion: 'update', depth: 0, back: undefined })
  return dice.spoils(10) ? mutated(dice, text) : text
}

/** For PATCH of many, which may not hold relations. */
export function anyFlatChange(dice: Dice, sketches: Sketches, collection: CollectionSketch): string {
  if (dice.spoils(5)) return anyChange(dice, sketches, collection)
  return item(dice, sketches, {
    collection: { ...collection, relations: [] },
    occasion: 'update',
    depth: 0,
    back: undefined,
  })
}

type Place = {
  readonly collection: CollectionSketch
  readonly occasion: Occasion
  readonly depth: number
  /** The relation back to the item that this one is nested in. */
  readonly back: RelationSketch | undefined
}

function item(dice: Dice, sketches: Sketches, { collection, occasion, depth, back }: Place): string {
  const { fields } = collection
  const relations = collection.relations.filter(({ name }) => name !== back?.name || dice.spoils(20))
  const wanted = relations.length > 0 && depth < 9 && dice.once(depth + 1) ? dice.pick(relations) : undefined
  const given = new Set([...(back?.columns ?? []), ...(wanted?.columns ?? [])])
  const links = new Set(relations.flatMap(({ columns }) => columns))
  const members: string[] = []
  for (const field of fields) {
    if (given.has(field.name) && !dice.spoils(20)) continue
    const isNeeded = field.isRequired && occasion === 'create' && !dice.spoils(20)
    if (isNeeded || dice.once(fields.length)) members.push(member(field.name, keyOr(dice, field, links)))
  }
  if (wanted !== undefined) members.push(member(wanted.name, relation(dice, sketches, wanted, { occasion, depth })))
  if (dice.spoils(30)) members.push(member(anyName(dice), anyWrongJson(dice)))
  return `{${members.join(',')}}`
}

function relation(
  dice: Dice,
  sketches: Sketches,
  wanted: RelationSketch,
  { occasion, depth }: { readonly occasion: Occasion; readonly depth: number },
): string {
  if (dice.spoils(25)) return anyWrongJson(dice)
  const target = sketches.get(wanted.target)
  if (target === undefined) throw new Error(`there is no ${wanted.target}`)
  const back = target.relations.find(({ name }) => name === wanted.opposite)
  const operations = () => operation(dice, sketches, { collection: target, occasion, depth: depth + 1, back }, wanted)
  const isOne = occasion === 'create' && !wanted.isList
  return isOne === !dice.spoils(20) ? operations() : `[${operations()}${dice.once(3) ? `,${operations()}` : ''}]`
}

/** Keys that have a chance to be there. */
function keyOr(dice: Dice, field: FieldSketch, links: ReadonlySet<string>): string {
  return links.has(field.name) && field.type === 'int64' && !dice.spoils(4)
    ? dice.pick(['1', '2', '"3"'])
    : anyJson(dice, field)
}

function operation(dice: Dice, sketches: Sketches, place: Place, { isList, columns }: RelationSketch): string {
  const { collection, occasion } = place
  const kinds = occasion === 'create' ? onCreate : columns.length > 0 || isList ? onUpdate : ['_update', '_delete']
  const kind = dice.spoils(25) ? anyName(dice) : dice.pick(kinds)
  if (dice.spoils(30)) return `{${member(kind, anyWrongJson(dice))}}`
  const condition = () => (dice.once(2) ? '' : `"filter":${filter(dice, collection)}`)
  switch (kind) {
    case '_connect':
      return isList
        ? `{"_connect":{"keys":[${dice.some(3, () => key(dice, collection)).join(',')}]}}`
        : `{"_connect":{"key":${key(dice, collection)}}}`
    case '_create': {
      const data = () => item(dice, sketches, { ...place, occasion: 'create' })
      return isList ? `{"_create":{"data":[${dice.some(2, data).join(',')}]}}` : `{"_create":{"data":${data()}}}`
    }
    case '_update': {
      const data = item(dice, sketches, { ...place, occasion: 'update' })
      return `{"_update":{${[`"data":${data}`, condition()].filter((text) => text !== '').join(',')}}}`
    }
    default:
      return `{${member(kind, `{${condition()}}`)}}`
  }
}

const onCreate = ['_connect', '_create']
const onUpdate = [...onCreate, '_update', '_disconnect', '_delete']

function key(dice: Dice, { name, fields }: CollectionSketch): string {
  if (dice.spoils(10)) return anyWrongJson(dice)
  const own = fields.slice(0, name === 'tags' ? 2 : 1)
  const members = own.map((field) => member(field.name, keyOr(dice, field, new Set([field.name]))))
  return `{${members.join(',')}}`
}

function filter(dice: Dice, { fields }: CollectionSketch): string {
  if (dice.spoils(6)) return anyWrongJson(dice)
  const field = dice.pick(fields.filter(({ type }) => type !== 'bytes'))
  const value = anyJson(dice, { ...field, isList: false })
  const operator = dice.pick(dice.spoils(2) ? ['_lt', '_in', '_null', '_contains'] : ['_eq', '_neq'])
  const operand = operator === '_in' ? `[${value}]` : operator === '_null' ? 'true' : value
  return `{${member(field.name, `{"${operator}":${operand}}`)}}`
}

function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${value}`
}
