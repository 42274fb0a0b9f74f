/**
 * The columns that the collections of a file have: those that it lists, and those that its relations make, with the types of what
 * they refer to.
 */
import type { Collection } from '../model/model.ts'
import { didYouMean } from '../nearest.ts'
import type { Parts } from '../parts.ts'
import { columnsOf, type FilePrimitive } from './file.ts'
import { fileFault } from './reading.ts'
import type { CollectionShape, Column, MatchedCollection, RelationShape, Target } from './resolution.ts'

/** What a column is, whoever says it. */
export type ColumnSpec = Pick<FilePrimitive, 'type' | 'isList' | 'isNullable'> & { readonly file?: FilePrimitive }

export type Shapes = {
  readonly all: readonly CollectionShape[]
  /** The names of the columns of a relation. */
  readonly columnsOf: (relation: RelationShape) => readonly string[]
  /** The names of the fields that it refers to, in the order of its columns. */
  readonly referencedBy: (relation: RelationShape) => readonly string[]
  /** The columns that names of fields and relations stand for. */
  readonly expand: (shape: CollectionShape, names: readonly string[]) => readonly string[]
  readonly specOf: (shape: CollectionShape, column: string) => ColumnSpec
}

/** Most columns of a key that a relation refers to, as databases have it. */
const MOST_COLUMNS = 32
/** Most relations by each of which the next one gets its columns, or the type of one. */
const MOST_DEEP = 100

/** `others` are the collections of sources that the file does not name. */
export function* shapesOf(matched: readonly MatchedCollection[], others: readonly Collection[]): Parts<Shapes> {
  const shapes = new Map<string, Mutable>()
  for (const one of matched) shapes.set(one.entry.name, { matched: one, relations: new Map(), columns: new Map() })
  const strangers = new Map(others.map((other) => [other.apiName, other]))
  for (const shape of shapes.values()) {
    yield
    const { entry } = shape.matched
    for (const [name, file] of entry.file.fields) {
      const place = fieldPlace(shape.matched, name)
      if (file.kind === 'primitive') shape.columns.set(name, { name, place, file, uses: [] })
      if (file.kind !== 'relation') continue
      const to = shapes.get(file.to)
      const other = strangers.get(file.to)
      if (to === undefined && other === undefined) {
        const at = entry.of === undefined ? `${place}.to` : `${place}.many`
        const hint = didYouMean(file.to, [...shapes.keys(), ...strangers.keys()])
        throw fileFault(at, `${file.to} is not a collection${hint}`)
      }
      const target: Target = to === undefined ? { other: other as Collection } : { shape: to }
      shape.relations.set(name, { name, place, file, owner: shape, target })
    }
  }

  let depth = 0
  /** Returns what `find` does, unless it was asked for behind too many others. */
  const deeper = <T>(place: string, find: () => T): T => {
    depth += 1
    if (depth > MOST_DEEP) throw fileFault(place, `refers to columns of other relations more than ${MOST_DEEP} times`)
    const found = find()
    depth -= 1
    return found
  }

  const names = new Map<RelationShape, readonly string[] | 'pending'>()
  const own = (relation: RelationShape): readonly string[] => {
    const known = names.get(relation)
    if (known === 'pending') throw fileFault(relation.place, 'refers to a key that it belongs to itself')
    if (known !== undefined) return known
    names.set(relation, 'pending')
    const referenced = deeper(relation.place, () => referencedBy(relation))
    const { by } = relation.file
    if (by !== undefined && by.length !== referenced.length) {
      throw fileFault(
        `${relation.place}.by`,
        `must name ${referenced.length} fields, as many as it refers to: ${referenced.join(', ')}`,
      )
    }
    if (referenced.length > MOST_COLUMNS) {
      throw fileFault(relation.place, `refers to a key of more than ${MOST_COLUMNS} columns`)
    }
    const found = by ?? columnsOf(relation.name, referenced)
    names.set(relation, found)
    return found
  }
  function referencedBy({ file, target, place }: RelationShape): readonly string[] {
    if (file.references !== undefined) return file.references
    const key =
      'shape' in target
        ? expand(target.shape, target.shape.matched.entry.file.key)
        : target.other.primaryKey.map(({ apiName }) => apiName)
    if (key.length === 0) throw fileFault(`${place}.to`, `${file.to} has no key: name its fields in references`)
    return key
  }
  function expand(shape: CollectionShape, listed: readonly string[]): readonly string[] {
    return listed.flatMap((name) => {
      const relation = shape.relations.get(name)
      return relation === undefined ? [name] : own(relation)
    })
  }

  for (const shape of shapes.values()) {
    for (const relation of shape.relations.values()) {
      yield
      for (const [position, name] of own(relation).entries()) {
        const known = shape.columns.get(name)
        if (known === undefined && shape.matched.entry.file.fields.has(name)) {
          throw fileFault(`${relation.place}.by`, `${name} is a relation, which has no column of its own`)
        }
        const column = known ?? { name, place: relation.place, file: undefined, uses: [] }
        shape.columns.set(name, { ...column, uses: [...column.uses, { relation, position }] })
      }
    }
  }

  const specs = new Map<Column, ColumnSpec | 'pending'>()
  const specOf = (shape: CollectionShape, name: string): ColumnSpec => {
    const column = shape.columns.get(name)
    if (column === undefined) throw new Error(`no column ${name}`)
    if (column.file !== undefined) return { ...column.file, file: column.file }
    const known = specs.get(column)
    if (known === 'pending') throw fileFault(column.place, 'refers to itself, so that nothing says its type')
    if (known !== undefined) return known
    specs.set(column, 'pending')
    const [first, ...rest] = deeper(column.place, () =>
      column.uses.map(({ relation, position }) => madeSpec(relation, position)),
    )
    if (first === undefined) throw new Error(`the column ${name} is of no relation`)
    if (rest.some((other) => JSON.stringify(other) !== JSON.stringify(first))) {
      throw fileFault(
        column.place,
        `its column ${name} is also that of another relation, with another type: list it in fields`,
      )
    }
    specs.set(column, first)
    return first
  }
  function madeSpec(relation: RelationShape, position: number): ColumnSpec {
    const { target, file } = relation
    const referenced = referencedBy(relation)[position] ?? ''
    const { isNullable } = file
    if ('other' in target) {
      const field = target.other.primitives.find(({ apiName }) => apiName === referenced)
      if (field === undefined) throw unknownReference(relation, referenced, target.other.fields.keys())
      return { type: field.type, isList: false, isNullable }
    }
    if (!target.shape.columns.has(referenced)) throw unknownReference(relation, referenced, target.shape.columns.keys())
    return { type: specOf(target.shape, referenced).type, isList: false, isNullable }
  }

  return { all: [...shapes.values()], columnsOf: own, referencedBy, expand, specOf }
}

type Mutable = {
  readonly matched: MatchedCollection
  readonly relations: Map<string, RelationShape>
  readonly columns: Map<string, Column>
}

/** Where a field of an entry stands; all of a junction at the relation that stands for it. */
function fieldPlace({ entry }: MatchedCollection, name: string): string {
  return entry.of === undefined ? `${entry.place}.fields.${name}` : entry.place
}

function unknownReference({ place, file }: RelationShape, name: string, known: Iterable<string>) {
  if (file.references === undefined)
    return fileFault(place, `${file.to} has no field ${name}, which is its key: give it that field, or another key`)
  return fileFault(`${place}.references`, `${name} is not a field of ${file.to}${didYouMean(name, known)}`)
}
