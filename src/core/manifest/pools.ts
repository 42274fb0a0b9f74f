/**
 * The pools of a manifest: what is said twice is kept once and called by its index. Object types refer to each other in
 * circles and in long chains, so each gets its index when it is first named and is described later, one after the other.
 */
import type { FieldType } from '../model/field-type.ts'
import type { PrimitiveField } from '../model/model.ts'
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

export type Description<Field> = {
  readonly fields: readonly (readonly [name: string, field: Field])[]
  readonly constraints?: Constraints<string>
}

export type Pools = {
  text(value: string): number
  type(value: FieldType): number
  primitive(value: FieldType): TypeReference
  /** The value of a field, in and out. */
  value(field: PrimitiveField): TypeReference
  enumeration(name: string, values: readonly string[]): TypeReference
  /** The index of the input type of this key; `describe` is called once per key. */
  input(key: string, name: string, describe: () => Description<InputField>): number
  output(key: string, name: string, describe: () => Description<OutputField>): number
  /** Describes every type that was named. */
  finish(): Pick<Manifest, 'strings' | 'primitiveTypes'> & Omit<QuerySchema, 'operations'>
}

export function createPools(): Pools {
  const strings = createPool<string>((value) => value)
  const primitiveTypes = createPool<FieldType>(JSON.stringify)
  const enumTypes = createPool<QuerySchema['enumTypes'][number]>(JSON.stringify)
  const inputFields = createPool<InputField>(JSON.stringify)
  const outputFields = createPool<OutputField>(JSON.stringify)
  const inputs = createPool<Named<InputField>>(({ key }) => key)
  const outputs = createPool<Named<OutputField>>(({ key }) => key)
  const names = new Map<string, number>()
  const primitive = (type: FieldType): TypeReference => `p${primitiveTypes.indexOf(type)}`

  // Names are joined from others and may meet; types are told apart by their keys.
  function uniqueName(name: string): string {
    const count = (names.get(name) ?? 0) + 1
    names.set(name, count)
    return count === 1 ? name : uniqueName(`${name}${count}`)
  }

  function described<Field>({ name, describe }: Named<Field>, fieldPool: Pool<Field>): InputObjectType {
    const { fields, constraints } = describe()
    return {
      name: strings.indexOf(uniqueName(name)),
      fields: fields.flatMap(([fieldName, field]) => [strings.indexOf(fieldName), fieldPool.indexOf(field)]),
      ...(constraints && { constraints: pooled(constraints, strings.indexOf) }),
    }
  }

  return {
    text: strings.indexOf,
    type: primitiveTypes.indexOf,
    primitive,
    value({ type, isList, isNullable }) {
      // Elements of a list may be null.
      const value = isList ? `[${primitive(type)}?]` : primitive(type)
      return isNullable ? `${value}?` : value
    },
    enumeration: (name, values) =>
      `e${enumTypes.indexOf({ name: strings.indexOf(name), values: values.map(strings.indexOf) })}`,
    input: (key, name, describe) => inputs.indexOf({ key, name, describe }),
    output: (key, name, describe) => outputs.indexOf({ key, name, describe }),
    finish() {
      const inputObjectTypes: InputObjectType[] = []
      const outputObjectTypes: ObjectType[] = []
      // Describing a type names others: both lists grow while they are gone through.
      while (inputObjectTypes.length < inputs.values.length || outputObjectTypes.length < outputs.values.length) {
        for (const type of outputs.values.slice(outputObjectTypes.length)) {
          outputObjectTypes.push(described(type, outputFields))
        }
        for (const type of inputs.values.slice(inputObjectTypes.length)) {
          inputObjectTypes.push(described(type, inputFields))
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

type Named<Field> = { readonly key: string; readonly name: string; readonly describe: () => Description<Field> }

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
