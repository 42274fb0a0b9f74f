/**
 * Interning for manifests: keeps each string and type once, and refers to it by index. Object types refer to each other
 * in circles and long chains, so a type gets its index when it is first referred to, and is described later.
 */
import type { Action } from '../access/access.ts'
import { limitsOf } from '../model/checks.ts'
import type { FieldType } from '../model/field-type.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import type {
  Constraints,
  InputField,
  InputObjectType,
  Manifest,
  ObjectType,
  OutputField,
  QuerySchema,
  TypeReference,
} from './format.ts'
import type { ModelView } from './model-view.ts'

export type Description<Field> = {
  readonly fields: readonly (readonly [name: string, field: Field])[]
  readonly constraints?: Constraints<string>
  /** The type of members of any other name. */
  readonly values?: TypeReference
  /** What OpenAPI says of the type. */
  readonly about?: string
  /** Whose fields these are, so that OpenAPI says how people call them. */
  readonly of?: Collection
}

/**
 * The input type of index `base` without one of its optional fields. Described in full, the input of a collection with
 * many relations would be repeated for each of them.
 */
export type Reduced = { readonly base: number; readonly without: string }

export type InputDescription = Description<InputField> | Reduced

/** An interned type with its description. */
export type Described =
  | { readonly side: 'input'; readonly name: string; readonly description: InputDescription }
  | { readonly side: 'output'; readonly name: string; readonly description: Description<OutputField> }

export type Interner = {
  /** The model view that fields and actions are taken from. */
  readonly view: ModelView
  /** Returns the fields that `action` may use. */
  primitives(collection: Collection, action: Action): readonly PrimitiveField[]
  relations(collection: Collection, action: Action): readonly RelationField[]
  text(value: string): number
  type(value: FieldType): number
  primitive(value: FieldType): TypeReference
  /** The type of a field as input. */
  value(field: PrimitiveField): TypeReference
  /** The type of a field as output; nullable if some rows hide the field. */
  shown(collection: Collection, field: PrimitiveField): TypeReference
  enumeration(name: string, values: readonly string[]): TypeReference
  /** Returns the index of the input type of this key; calls `describe` once per key. */
  input(key: string, name: string, describe: () => InputDescription): number
  output(key: string, name: string, describe: () => Description<OutputField>): number
  /** Returns the unique name of an input or output type. */
  nameOf(side: Described['side'], index: number): string
  primitiveAt(index: number): FieldType
  enumerationAt(index: number): { readonly name: string; readonly values: readonly string[] }
  /** Describes interned types that have no description yet, one by one; describing one may intern more. */
  described(): Generator<Described>
  /** Describes all interned types. */
  finish(): Parts<Pick<Manifest, 'strings' | 'primitiveTypes'> & Omit<QuerySchema, 'operations'>>
}

/** `reserved` names are given to no type. */
export function createInterner(view: ModelView, reserved: readonly string[] = []): Interner {
  const strings = createPool<string>((value) => value)
  const primitiveTypes = createPool<FieldType>(JSON.stringify)
  const enumTypes = createPool<QuerySchema['enumTypes'][number]>(JSON.stringify)
  const inputs = createPool<Named<InputDescription>>(({ key }) => key)
  const outputs = createPool<Named<Description<OutputField>>>(({ key }) => key)
  const uniqueName = createNames(reserved)
  const names = { input: new Map<number, string>(), output: new Map<number, string>() }
  const done = { input: 0, output: 0 }
  // A cache: the same type is looked up often, and its key is long.
  const references = new WeakMap<FieldType, TypeReference>()
  const primitive = (type: FieldType): TypeReference => {
    const reference = references.get(type) ?? `p${primitiveTypes.indexOf(type)}`
    references.set(type, reference)
    return reference
  }

  const enumeration = (name: string, values: readonly string[]) =>
    `e${enumTypes.indexOf({ name: strings.indexOf(name), values: values.map(strings.indexOf) })}`

  /** Fields with the same values share a type, which is named after the first of them. */
  const enumNames = new Map<string, string>()
  function scalar(field: PrimitiveField): TypeReference {
    const { apiName, type } = field
    const { values } = limitsOf(field)
    if (values === undefined) return primitive(type)
    const key = JSON.stringify(values)
    const name = enumNames.get(key) ?? uniqueName(`${apiName.charAt(0).toUpperCase()}${apiName.slice(1)}Enum`)
    enumNames.set(key, name)
    return enumeration(name, values)
  }

  function nameOf(side: Described['side'], index: number): string {
    const known = names[side].get(index)
    if (known !== undefined) return known
    const name = uniqueName(side === 'input' ? at(inputs, index).name : at(outputs, index).name)
    names[side].set(index, name)
    return name
  }

  // Both lists grow during the iteration, since descriptions intern further types.
  function* described(): Generator<Described> {
    while (done.input < inputs.values.length || done.output < outputs.values.length) {
      for (const { describe } of outputs.values.slice(done.output)) {
        const description = describe()
        const index = done.output++
        yield { side: 'output', name: nameOf('output', index), description }
      }
      for (const { describe } of inputs.values.slice(done.input)) {
        const description = describe()
        const index = done.input++
        yield { side: 'input', name: nameOf('input', index), description }
      }
    }
  }

  // Elements of a list may be null.
  const plainValue = (field: PrimitiveField) => (field.isList ? `[${scalar(field)}?]` : scalar(field))
  const value = (field: PrimitiveField) => (field.isNullable ? `${plainValue(field)}?` : plainValue(field))

  return {
    view,
    primitives: (collection, action) =>
      collection.primitives.filter((field) => isUsed(view, field, collection, action)),
    relations: (collection, action) => collection.relations.filter((field) => isUsed(view, field, collection, action)),
    text: strings.indexOf,
    type: primitiveTypes.indexOf,
    primitive,
    value,
    shown: (collection, field) =>
      view.shows(collection, field) === 'sometimes' ? `${plainValue(field)}?` : value(field),
    enumeration,
    input: (key, name, describe) => inputs.indexOf({ key, name, describe }),
    output: (key, name, describe) => outputs.indexOf({ key, name, describe }),
    nameOf,
    primitiveAt: (index) => at(primitiveTypes, index),
    enumerationAt(index) {
      const { name, values } = at(enumTypes, index)
      return { name: at(strings, name), values: values.map((value) => at(strings, value)) }
    },
    described,
    *finish() {
      const inputFields = createPool<InputField>(JSON.stringify)
      const outputFields = createPool<OutputField>(JSON.stringify)
      const inputObjectTypes: InputObjectType[] = []
      const outputObjectTypes: ObjectType[] = []
      const reduced = new Map<number, Reduced>()
      for (const { side, name, description } of described()) {
        yield
        if (side === 'output') {
          outputObjectTypes.push(pooledType(name, description, { strings, fields: outputFields }))
        } else if ('base' in description) {
          reduced.set(inputObjectTypes.length, description)
          inputObjectTypes.push({ name: strings.indexOf(name), fields: [] })
        } else {
          inputObjectTypes.push(pooledType(name, description, { strings, fields: inputFields }))
        }
      }
      // At the end, since a base may be described after the types that refer to it.
      for (const [index, { base, without }] of reduced) {
        const [{ name }, { fields, constraints }] = [valueAt(inputObjectTypes, index), valueAt(inputObjectTypes, base)]
        const omitted = strings.indexOf(without)
        inputObjectTypes[index] = {
          name,
          fields: fields.filter((_, place) => fields[place - (place % 2)] !== omitted),
          ...(constraints && { constraints }),
        }
      }
      return {
        strings: strings.values,
        primitiveTypes: primitiveTypes.values,
        inputFields: inputFields.values,
        outputFields: outputFields.values,
        inputObjectTypes,
        outputObjectTypes,
        enumTypes: enumTypes.values,
      }
    },
  }
}

function isUsed(
  view: ModelView,
  field: PrimitiveField | RelationField,
  collection: Collection,
  action: Action,
): boolean {
  return view.uses(collection, field, action) !== 'never'
}

/** Composed names may collide; types are identified by their keys. */
function createNames(reserved: readonly string[]): (name: string) => string {
  const counts = new Map(reserved.map((name) => [name, 1]))
  return function unique(name): string {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count === 1 ? name : unique(`${name}${count}`)
  }
}

function at<T>({ values }: Pool<T>, index: number): T {
  return valueAt(values, index)
}

function valueAt<T>(values: readonly T[], index: number): T {
  const value = values[index]
  if (value === undefined) throw new Error(`there is no type ${index}`)
  return value
}

function pooledType<Field>(
  name: string,
  { fields, constraints, values }: Description<Field>,
  interner: { readonly strings: Pool<string>; readonly fields: Pool<Field> },
): InputObjectType {
  const { strings } = interner
  return {
    name: strings.indexOf(name),
    fields: fields.flatMap(([fieldName, field]) => [strings.indexOf(fieldName), interner.fields.indexOf(field)]),
    ...(values !== undefined && { values }),
    ...(constraints && { constraints: pooled(constraints, strings.indexOf) }),
  }
}

type Named<Described> = { readonly key: string; readonly name: string; readonly describe: () => Described }

type Pool<T> = { readonly values: readonly T[]; readonly indexOf: (value: T) => number }

function createPool<T>(keyOf: (value: T) => string): Pool<T> {
  const values: T[] = []
  const known = new Map<string, number>()
  return {
    values,
    indexOf(value) {
      const key = keyOf(value)
      const index = known.get(key) ?? values.length
      if (index === values.length) {
        known.set(key, index)
        values.push(value)
      }
      return index
    },
  }
}

function pooled(constraints: Constraints<string>, indexOf: (name: string) => number): Constraints<number> {
  const { atLeastOneOf, excludes, exactlyOneSetOf, ...flags } = constraints
  const lists = (value: readonly (readonly string[])[]) => value.map((names) => names.map(indexOf))
  return {
    ...flags,
    ...(atLeastOneOf && { atLeastOneOf: lists(atLeastOneOf) }),
    ...(excludes && { excludes: lists(excludes) }),
    ...(exactlyOneSetOf && { exactlyOneSetOf: lists(exactlyOneSetOf) }),
  }
}
