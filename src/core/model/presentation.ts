/**
 * The system collections that are written as items: how collections and fields are called and shown, and saved views of lists
 * (docs/contract.md#names-and-views), and files (docs/contract.md#files). Of them only files have relations, those that collections
 * of users declare to them.
 */
import { NO_CONTROL } from '../message-text.ts'
import type { Check } from './checks.ts'
import type { FieldType } from './field-type.ts'
import type { DefaultValue, ModelRecords } from './model.ts'

const names = ['ServiceCollectionMeta', 'ServiceFieldMeta', 'ServiceView', 'ServiceFile'] as const
export type PresentationName = (typeof names)[number]

type Column = {
  readonly dbName: string
  readonly type: FieldType
  readonly isNullable?: boolean
  readonly isReadOnly?: boolean
  readonly defaultValue?: DefaultValue
  readonly checks?: readonly Check[]
}

/** Views that a user, a role or the workspace may have, and characters of a JSON that people write. */
export const MOST_VIEWS = 200
export const LONGEST_JSON = 65_536
/** Bytes of the names and descriptions of all collections and fields of a workspace. */
export const MOST_NAMES = 8 * 1024 ** 2

const text: FieldType = { name: 'string', params: { length: 'unlimited' } }
const optional = (dbName: string, type: FieldType): Column => ({ dbName, type, isNullable: true })
const required = (dbName: string, type: FieldType): Column => ({ dbName, type })
/** What the service finds out itself. */
const known = (dbName: string, type: FieldType): Column => ({ dbName, type, isReadOnly: true })
const bounded = (name: string): Check => ({ name, limits: { maxLength: LONGEST_JSON } })
const line = (name: string): Check => ({ name, limits: {}, says: NO_CONTROL })
const moment: FieldType = { name: 'dateTime' }

const shown: Readonly<Record<string, Column>> = {
  displayName: { ...optional('display_name', text), checks: [line('display_name_line')] },
  description: optional('description', text),
  icon: optional('icon', text),
  color: optional('color', text),
  displayTemplate: optional('display_template', text),
  sort: optional('sort', { name: 'int32' }),
  isHidden: {
    dbName: 'is_hidden',
    type: { name: 'boolean' },
    defaultValue: { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded: false } },
  },
}

const tables: Readonly<
  Record<PresentationName, { readonly dbName: string; readonly columns: Readonly<Record<string, Column>> }>
> = {
  ServiceCollectionMeta: {
    dbName: 'collection_meta',
    columns: { collectionId: required('collection_id', { name: 'uuid' }), ...shown },
  },
  ServiceFieldMeta: {
    dbName: 'field_meta',
    columns: {
      fieldId: required('field_id', { name: 'uuid' }),
      collectionId: { dbName: 'collection_id', type: { name: 'uuid' }, isReadOnly: true },
      ...shown,
    },
  },
  ServiceView: {
    dbName: 'view',
    columns: {
      id: {
        dbName: 'id',
        type: { name: 'uuid' },
        defaultValue: { source: 'engineManaged', onCreate: { kind: 'uuid' } },
      },
      name: {
        ...required('name', text),
        checks: [{ name: 'view_name_check', limits: { minLength: 1, maxLength: 200 } }, line('view_name_line')],
      },
      collectionId: required('collection_id', { name: 'uuid' }),
      userId: {
        ...optional('user_id', { name: 'uuid' }),
        checks: [
          {
            name: 'view_user_id_limit',
            limits: {},
            says: `must not have more than ${MOST_VIEWS} views of their own in a workspace`,
          },
        ],
      },
      roleId: {
        ...optional('role_id', { name: 'uuid' }),
        checks: [
          { name: 'view_role_id_limit', limits: {}, says: `must not have more than ${MOST_VIEWS} views` },
          {
            name: 'view_shared_limit',
            limits: {},
            says: `must not be null for more than ${MOST_VIEWS} views of a workspace`,
          },
        ],
      },
      query: { ...required('query', { name: 'json' }), checks: [bounded('view_query_check')] },
      layout: { ...optional('layout', { name: 'json' }), checks: [bounded('view_layout_check')] },
    },
  },
  ServiceFile: {
    dbName: 'file',
    columns: {
      id: {
        dbName: 'id',
        type: { name: 'uuid' },
        isReadOnly: true,
        defaultValue: { source: 'engineManaged', onCreate: { kind: 'uuid' } },
      },
      fileName: known('file_name', text),
      // A number that JSON holds exactly, also above 2 GiB.
      fileSize: known('file_size', { name: 'float64' }),
      mediaType: known('media_type', text),
      title: { ...optional('title', text), checks: [line('file_title_line')] },
      description: optional('description', text),
      tags: { ...optional('tags', { name: 'json' }), checks: [bounded('file_tags_check')] },
      createdAt: {
        ...known('created_at', moment),
        defaultValue: { source: 'engineManaged', onCreate: { kind: 'now' } },
      },
      updatedAt: {
        ...known('updated_at', moment),
        defaultValue: { source: 'engineManaged', onCreate: { kind: 'now' }, onUpdate: { kind: 'now' } },
      },
    },
  },
}

/** Ids that no client can generate, and none of the other system collections has. */
function id(collection: number, field: number): string {
  return `00000000-0000-0000-0001-${(collection * 256 + field).toString(16).padStart(12, '0')}`
}

/** The id of ServiceFile, the same in every workspace. */
export const fileCollectionId = id(names.indexOf('ServiceFile') + 1, 0)

type WrittenRecords = Pick<ModelRecords, 'collections' | 'primitiveFields' | 'indexes'>

/** The first column is the key. */
export function presentationRecords(sourceId: string, namespaceId: string): WrittenRecords {
  const named = names.map((apiName, index) => ({ apiName, index: index + 1, ...tables[apiName] }))
  return {
    collections: named.map(({ apiName, dbName, index }) => ({
      id: id(index, 0),
      sourceId,
      namespaceId,
      dbName,
      apiName,
      isReadOnly: false,
      isSystem: true,
      isView: false,
    })),
    primitiveFields: named.flatMap(({ columns, index }) =>
      Object.entries(columns).map(([apiName, column], place) => ({
        id: id(index, place + 1),
        collectionId: id(index, 0),
        apiName,
        isNullable: false,
        isReadOnly: false,
        defaultValue: null,
        ...column,
        isList: false,
        isLoose: false,
        native: null,
      })),
    ),
    indexes: named.map(({ dbName, index }) => ({
      id: id(index, 255),
      collectionId: id(index, 0),
      dbName: `${dbName}_pkey`,
      kind: 'primary',
      fieldIds: [id(index, 1)],
    })),
  }
}
