/**
 * Converts manifest types to JSON Schema (docs/contract.md#types), for input and output. `core/manifest` decides which
 * types exist; this file only renders them.
 */
import type { Constraints, InputField, Limits, OutputField, TypeReference } from '../manifest/format.ts'
import type { Description, InputDescription, Interner } from '../manifest/interner.ts'
import type { FieldType } from '../model/field-type.ts'
import type { Collection } from '../model/model.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }

/** Input accepts more forms than output has: a 64-bit integer also as a number. */
export type Direction = 'sent' | 'answered'

export type Schemas = {
  of(type: TypeReference, direction: Direction): JsonSchema
  /** Of all types that a field takes. */
  sent(field: InputField): JsonSchema
  input(description: InputDescription): JsonSchema
  output(description: Description<OutputField>): JsonSchema
  /** The shared components that were referred to. */
  shared(): Readonly<Record<string, JsonSchema>>
}

/**
 * What a list can contain in output besides its elements: a PostgreSQL array can have any number of dimensions,
 * whatever its column type says, and one written outside of the service is returned as it is.
 */
export type Lists = 'flat' | 'anyDimensions'

export function createSchemas(interner: Interner, lists: Lists): Schemas {
  const used = new Map<string, JsonSchema>()
  const share = (name: string, schema: JsonSchema): JsonSchema => {
    used.set(name, schema)
    return component(name)
  }

  function of(type: TypeReference, direction: Direction): JsonSchema {
    if (type.endsWith('?')) return orNull(of(type.slice(0, -1), direction))
    if (type.startsWith('[p') && direction === 'answered' && lists === 'anyDimensions') {
      const element = of(type.slice(1, -1), direction)
      return { type: 'array', items: { anyOf: [element, { type: 'array', items: {} }] } }
    }
    if (type.startsWith('[')) return { type: 'array', items: of(type.slice(1, -1), direction) }
    const index = Number(type.slice(1))
    switch (type.charAt(0)) {
      case 'i':
        return component(interner.nameOf('input', index))
      case 'o':
        return component(interner.nameOf('output', index))
      case 'e': {
        const { name, values } = interner.enumerationAt(index)
        return share(name, { type: 'string', enum: values })
      }
      default:
        return primitive(interner.primitiveAt(index), direction, share)
    }
  }

  return {
    of,
    sent,
    input(description) {
      if ('base' in description) {
        const { base, without } = description
        return { ...of(`i${base}`, 'sent'), not: { required: [without] } }
      }
      const { fields, constraints, values, about, of: whose } = description
      if (values !== undefined) return named(values, 'sent', about)
      const required = fields.filter(([, field]) => field.optional !== true).map(([name]) => name)
      return {
        type: 'object',
        ...calledAs(whose?.id),
        properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldOf(whose, name, sent(field))])),
        ...(required.length > 0 && { required }),
        additionalProperties: false,
        ...(constraints && constrained(constraints)),
      }
    },
    output({ fields, values, about, of: whose }) {
      if (values !== undefined) return named(values, 'answered', about)
      // Fields of an item appear if selected; what a list is of, its items or their aggregates, always does.
      const isList = fields.some(([, { type }]) => type.startsWith('[o'))
      const held = ['data', 'aggregate'].filter((name) => fields.some(([own]) => own === name))
      return {
        type: 'object',
        ...calledAs(whose?.id),
        properties: {
          ...Object.fromEntries(
            fields.map(([name, { type, limits }]) => [
              name,
              fieldOf(whose, name, limited(of(type, 'answered'), limits)),
            ]),
          ),
          ...(!isList && { _etag: share('EntityTag', entityTag) }),
        },
        // Not `anyOf` over what is required, which openapi-typescript makes a type without members of.
        ...(isList && (held.length === 1 ? { required: held } : { minProperties: 1 })),
        additionalProperties: false,
      }
    },
    shared: () => Object.fromEntries(used),
  }

  /** Whoever may use a collection or field is told how people call it. */
  function calledAs(id: string | undefined): JsonSchema {
    const { displayName, description } = (id && interner.view.called(id)) || {}
    return { ...(displayName && { title: displayName }), ...(description && { description }) }
  }

  function fieldOf(collection: Collection | undefined, name: string, schema: JsonSchema): JsonSchema {
    const called = calledAs(collection?.fields.get(name)?.id)
    return Object.keys(called).length === 0 ? schema : { ...schema, ...called }
  }

  /** An object whose members are named by who asks. */
  function named(values: TypeReference, direction: Direction, about: string | undefined): JsonSchema {
    return { type: 'object', ...(about && { description: about }), additionalProperties: of(values, direction) }
  }

  function sent({ type, limits, secondaryTypes = [] }: InputField): JsonSchema {
    const own = limited(of(type, 'sent'), limits)
    return secondaryTypes.length === 0 ? own : { anyOf: [own, ...secondaryTypes.map((one) => of(one, 'sent'))] }
  }
}

const entityTag = {
  type: 'string',
  description: 'The tag of the item, where `fields` names it; for `If-Match`, in quotes.',
}

/** Names reserved for shared components. */
export const sharedNames = [
  'Error',
  'Int64',
  'Int64Input',
  'UInt64',
  'UInt64Input',
  'Decimal',
  'DecimalInput',
  'Geometry',
  'ResponseMeta',
  'ServiceGroup',
  'ServiceGroupFilter',
  'ServiceGroupSort',
  'ServiceGroups',
  'ServiceSortDirection',
  'ServiceSortNulls',
  'ServiceMeta',
  'EntityTag',
  'ServiceConflictAction',
  'ServiceCountMeta',
  'ServiceCursorMeta',
  'ServiceCursors',
]

export function component(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** A keyword says nothing of null, nor `minimum` of a number that is a text. A bound that JSON would round is left out. */
function limited(schema: JsonSchema, limits: Limits = {}): JsonSchema {
  const keywords = Object.entries(limits).flatMap(([name, limit]): readonly (readonly [string, unknown])[] => {
    const value = name.endsWith('imum') ? Number(limit) : limit
    const own = schema[name]
    const isLooser = typeof own === 'number' && (name.startsWith('min') ? own >= Number(value) : own <= Number(value))
    return isLooser || String(value) !== String(limit) ? [] : [[name, value]]
  })
  return keywords.length === 0 ? schema : { ...schema, ...Object.fromEntries(keywords) }
}

/** A schema without keywords already accepts null. */
function orNull(schema: JsonSchema): JsonSchema {
  return Object.keys(schema).length === 0 ? schema : { oneOf: [schema, { type: 'null' }] }
}

type Share = (name: string, schema: JsonSchema) => JsonSchema

function primitive(type: FieldType, direction: Direction, share: Share): JsonSchema {
  switch (type.name) {
    case 'string':
      return type.params.length === 'fixed' && direction === 'sent'
        ? { type: 'string', maxLength: type.params.value }
        : { type: 'string' }
    case 'int8':
      return integer(-128, 127)
    case 'int16':
      return integer(-32_768, 32_767)
    case 'int32':
      return { ...integer(-2_147_483_648, 2_147_483_647), format: 'int32' }
    case 'uint8':
      return integer(0, 255)
    case 'uint16':
      return integer(0, 65_535)
    case 'uint32':
      return integer(0, 4_294_967_295)
    case 'int64':
      return textNumber('Int64', { format: 'int64', pattern: '^-?[0-9]+$' }, direction, share)
    case 'uint64':
      return textNumber('UInt64', { format: 'uint64', pattern: '^[0-9]+$' }, direction, share)
    case 'decimal':
      return textNumber('Decimal', { pattern: '^-?[0-9]+(\\.[0-9]+)?$' }, direction, share)
    case 'float32':
      return { type: 'number', format: 'float' }
    case 'float64':
      return { type: 'number', format: 'double' }
    case 'boolean':
      return { type: 'boolean' }
    case 'uuid':
      return { type: 'string', format: 'uuid' }
    case 'date':
      return { type: 'string', format: 'date' }
    case 'time':
      return { type: 'string', pattern: TIME }
    case 'dateTime':
      return { type: 'string', pattern: DATE_TIME }
    case 'dateTimeWithTimezone':
      return { type: 'string', format: 'date-time' }
    case 'json':
      return {}
    case 'bytes':
      return { type: 'string', contentEncoding: 'base64' }
    case 'geometry':
      return share('Geometry', geometry)
    default:
      return type satisfies never
  }
}

const TIME = '^[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?$'
const DATE_TIME = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?$'

function integer(minimum: number, maximum: number): JsonSchema {
  return { type: 'integer', minimum, maximum }
}

/** Numbers beyond JSON's precision: text in output; text or a number in input. */
function textNumber(name: string, form: JsonSchema, direction: Direction, share: Share): JsonSchema {
  const number = { type: name === 'Decimal' ? 'number' : 'integer' }
  const text = share(name, { type: 'string', ...form })
  return direction === 'answered' ? text : share(`${name}Input`, { oneOf: [text, number] })
}

const geometry: JsonSchema = {
  type: 'object',
  description: 'A GeoJSON geometry (RFC 7946).',
  properties: {
    type: {
      type: 'string',
      enum: ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon', 'GeometryCollection'],
    },
    coordinates: { type: 'array', items: {} },
    geometries: { type: 'array', items: component('Geometry') },
  },
  required: ['type'],
  additionalProperties: false,
}

function constrained(constraints: Constraints<string>): JsonSchema {
  const { atMostOneField, atLeastOneField, atLeastOneOf = [], excludes = [], exactlyOneSetOf } = constraints
  const required = (names: readonly string[]) => ({ required: names })
  const rules = [
    ...atLeastOneOf.map((names) => ({ anyOf: names.map((name) => required([name])) })),
    ...excludes.flatMap(([relation = '', ...columns]) =>
      columns.map((column) => ({ not: required([relation, column]) })),
    ),
  ]
  return {
    ...(atLeastOneField && { minProperties: 1 }),
    ...(atMostOneField && { maxProperties: 1 }),
    ...(exactlyOneSetOf && exactlyOneSetOf.length > 0 && { oneOf: exactlyOneSetOf.map(required) }),
    ...(rules.length > 0 && { allOf: rules }),
  }
}
