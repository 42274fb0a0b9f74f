/**
 * The JSON Schema of the model file, which editors complete and check by. It is as strict as the form is; what depends on
 * a workspace, only the service knows.
 */
import { entitlementSchema } from '../access/entitlement.ts'
import { lazily } from '../lazily.ts'
import { plainTypeNames } from '../model/vocabulary.ts'
import { shownTexts } from './presentation/shown.ts'

type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string', minLength: 1 }
const flag: Schema = { type: 'boolean' }
const names: Schema = { type: 'array', items: text, uniqueItems: true }
const anyObject: Schema = { type: 'object' }

function object(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  return { type: 'object', properties, additionalProperties: false, ...(required.length > 0 && { required }) }
}

function named(of: Schema, description: string): Schema {
  return { type: 'object', additionalProperties: of, description }
}

const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` })
const described = (schema: Schema, description: string): Schema => ({ ...schema, description })

const renamedFrom = described(text, 'The name that it had before. It may stay once it is renamed.')
const opposite = described(
  text,
  'The name of the other side, at the collection that it leads to. Default: this collection.',
)
const dbName = described(
  text,
  'The name in the database. Default: the name, of a column in snake_case where the others are.',
)
const referentialAction: Schema = {
  enum: ['noAction', 'cascade', 'restrict', 'setNull', 'setDefault'],
  default: 'noAction',
}

const fieldPattern = `^(${[...plainTypeNames, String.raw`string(\(\d+\))?`, String.raw`decimal(\(\d+, ?\d+\)|\(\d+\))?`].join('|')})(\\[\\])?(\\?)?( (auto|always|update))?$`

const condition = described(anyObject, 'A filter of items.')
const fields: Schema = { anyOf: [{ const: '*' }, names] }
const action = (properties: Readonly<Record<string, Schema>>): Schema => ({
  anyOf: [{ const: 'all' }, object(properties)],
})

/** Made once, when it is first asked for. */
export const modelFileSchema = lazily(
  (): Schema => ({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The data model of a workspace',
    ...object(
      {
        $schema: { type: 'string' },
        version: { const: 1 },
        sources: named(
          text,
          'The provider of each data source whose collections are listed; _system needs no mention.',
        ),
        collections: {
          ...named(ref('collection'), 'All collections of these sources, by name.'),
          propertyNames: ref('name'),
        },
        names: named(
          ref('shown'),
          'How collections and fields are called and shown, by paths such as "articles" and "articles.title".',
        ),
        roles: named(ref('role'), 'All roles but Administrator, by name: a list of policies each.'),
        policies: named(ref('policy'), 'All policies, by name.'),
        ids: named({ type: 'string', format: 'uuid' }, 'Who is who, such as "articles.title". May be left out.'),
      },
      ['version'],
    ),
    $defs: {
      name: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_]*$', maxLength: 63 },
      collection: object(
        {
          fields: { ...named(ref('field'), 'Fields and relations, by name.'), propertyNames: ref('name') },
          key: described(names, 'The primary key. Default: ["id"]; [] for none.'),
          indexes: { type: 'array', items: ref('index') },
          source: described(text, 'The data source. Default: _system.'),
          namespace: described(text, 'The schema, where it is not the source’s own.'),
          dbName,
          readOnly: described(flag, 'It is there and cannot be written; it is never made.'),
          history: described(flag, 'Whether it is recorded who changes what of its items. Default: false.'),
          renamedFrom,
        },
        ['fields'],
      ),
      field: { anyOf: [ref('type'), ref('column'), ref('relation'), ref('junction'), ref('over')] },
      type: {
        type: 'string',
        pattern: fieldPattern,
        description:
          'A type, [] for a list, ? where null may stand; auto: filled at creation, always: at each change, too, update: at changes only.',
        examples: ['int64 auto', 'string(200)', 'string[]?', 'decimal(12,2)', 'dateTimeWithTimezone always'],
      },
      column: object(
        {
          type: ref('type'),
          default: described({}, 'What a new item gets, in the form of the API.'),
          dbName,
          readOnly: described(flag, 'The database computes it; it is never made.'),
          renamedFrom,
        },
        ['type'],
      ),
      relation: object(
        {
          to: described(text, 'A collection; with ? at its end there may be none.'),
          opposite,
          unique: described(flag, 'One to one.'),
          onDelete: referentialAction,
          onUpdate: referentialAction,
          by: described(names, 'Its own fields. Default: made as <relation><KeyField>.'),
          references: described(names, 'The fields that it refers to. Default: the key.'),
          constraint: {
            anyOf: [text, { const: false }],
            description: 'The name of the foreign key; false where no database has it.',
          },
          index: described(flag, 'false for no index of its own.'),
          renamedFrom,
        },
        ['to'],
      ),
      junction: object(
        {
          many: described(text, 'The collection at the other side of a many-to-many relation.'),
          through: described(text, 'The junction that is made. Default: <collection>_<field>.'),
          opposite,
        },
        ['many'],
      ),
      over: object(
        {
          many: described(text, 'The collection at the other side.'),
          over: {
            type: 'string',
            pattern: '^[^.]+\\.[^.]+$',
            description: 'The relation to the junction, a dot, and that of the junction to the other side.',
          },
          opposite,
          renamedFrom,
        },
        ['many', 'over'],
      ),
      index: { anyOf: [ref('on'), object({ on: ref('on'), dbName: text }, ['on'])] },
      on: {
        type: 'string',
        pattern: '^(unique )?\\w+(\\s*,\\s*\\w+)*$',
        description: 'Names of fields and relations, after unique where no two may be alike.',
      },
      shown: object({
        ...Object.fromEntries(
          Object.entries(shownTexts).map(([name, maxLength]) => [name, { type: 'string', maxLength }]),
        ),
        sort: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
        hidden: flag,
      }),
      role: {
        anyOf: [names, object({ description: { type: 'string' }, policies: names, renamedFrom }, ['policies'])],
      },
      policy: object({
        description: { type: 'string' },
        entitlements: { type: 'array', items: { enum: entitlementSchema().options } },
        collections: named(
          ref('actions'),
          'What is allowed with the items of each collection; what is absent is denied.',
        ),
        renamedFrom,
      }),
      actions: object({
        read: action({ fields, filter: condition }),
        create: action({ fields, validation: condition }),
        update: action({ fields, filter: condition, check: condition, validation: condition }),
        delete: action({ filter: condition }),
      }),
    },
  }),
)
