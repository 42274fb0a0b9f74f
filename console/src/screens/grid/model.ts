/** What the grid knows of a collection: its fields, how each can be filtered and set, and which of it this caller may use. */
import type { CollectionEntry, ManifestText } from 'governed-data-client/generate'
import type { Access } from 'governed-data-client/system'
import { FILES } from '../../data/files.ts'
import { type Query, queries } from '../../data/queries.ts'
import { accessQuery, inOrder, manifestQuery, namesQuery, type Presentations } from '../../data/workspaces.ts'
import { language, t } from '../../messages/messages.ts'
import { isBounded, operatorsOf } from './input-types.ts'
import { linksOf } from './linked.ts'
import { namingField } from './naming-field.ts'
import { type Row, textOf } from './values.ts'

export type FieldModel = {
  /** That of the model, which outlives its name. */
  readonly id: string
  readonly name: string
  readonly title: string
  /** What people say of it, null where nothing. */
  readonly description: string | null
  /** As in migrations, without parameters. */
  readonly type: string
  readonly isNullable: boolean
  readonly isList: boolean
  /** Those of an enum, or of a check constraint. */
  readonly values: readonly string[]
  readonly operators: readonly string[]
  readonly isKey: boolean
  readonly hasDefault: boolean
  /** Its place among the others, null where nobody gave it one. */
  readonly sort: number | null
  /** Whether it is shown only where somebody asks for it. */
  readonly isHidden: boolean
  readonly mayUpdate: boolean
  readonly mayCreate: boolean
  /** Whether nobody changes it: the model, or the source, has it so. */
  readonly isFixed: boolean
  /** Whether its values are numbers of bytes. */
  readonly isSize?: boolean
}

/** What an item is called by: the field that it is found and sorted by, and what is shown, such as `{{first}} {{last}}`. */
export type Display = FieldModel & {
  readonly template: string
  /** Names of the fields in it. */
  readonly shows: readonly string[]
}

/** A relation to one item, shown by `display`. */
export type ToOne = {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly to: string
  readonly sort: number | null
  readonly isHidden: boolean
  readonly display: Display
  /** All of the other that may be read. */
  readonly fields: readonly FieldModel[]
  /** Names of the other's key. */
  readonly key: readonly string[]
  /** Own fields that refer, in the order of the other's key; empty where they are not its key. */
  readonly by: readonly string[]
  /** Whether its items can be asked of in a filter. */
  readonly isFilterable: boolean
}

/** A relation to many items: those with at each `path` what the field `own` has. */
export type ToMany = {
  readonly name: string
  readonly title: string
  readonly to: string
  /** Of the others, those that may be read. */
  readonly fields: readonly FieldModel[]
  readonly links: readonly { readonly path: readonly string[]; readonly own: string }[]
  readonly isFilterable: boolean
  /** What rows of a junction lead to; absent of items that refer by themselves. */
  readonly linked?: Linked
  /** Of items that refer by themselves, what this caller may do with that. */
  readonly attached?: Linked
  /** Whether it is a junction that such a list leads over, with nothing else in it. */
  readonly isJunction: boolean
  /** What becomes of its items where this one is deleted; absent over a junction. */
  readonly onDelete?: OnDelete
}

/** As the foreign key has it; `unheld` where there is none. */
export type OnDelete = 'noAction' | 'restrict' | 'cascade' | 'setNull' | 'setDefault' | 'unheld'

/** A member of a relation that the client does not name (docs/manifest.md). */
type Constrained = { readonly constraint?: { readonly onDelete: OnDelete } }

/** The other side of a junction, shown by `display`, and what this caller may do with the links. */
export type Linked = {
  readonly to: string
  /** Where no field leads over the junction: its relation to the other side, and its fields that refer, in the order of `key`. */
  readonly over?: { readonly relation: string; readonly by: readonly string[] }
  readonly display: Display
  readonly key: readonly string[]
  /** What is true of all that may be added. */
  readonly among?: object
  readonly mayAdd: boolean
  readonly mayRemove: boolean
  /** With a new item. */
  readonly mayAddToNew: boolean
}

export type CollectionModel = {
  readonly id: string
  readonly name: string
  readonly title: string
  /** Names of its fields; empty where no address can name an item. */
  readonly key: readonly string[]
  readonly fields: readonly FieldModel[]
  /** What an item is called by. */
  readonly display: Display | undefined
  readonly toOne: readonly ToOne[]
  readonly toMany: readonly ToMany[]
  /** Whether it is recorded who changes what of its items. */
  readonly hasHistory: boolean
  readonly mayCreate: boolean
  readonly mayDelete: boolean
  /** Whether its data source counts and sums them. */
  readonly mayAggregate: boolean
  /** Whether several items can be written by one batch, which connectors refuse. */
  readonly takesBatches: boolean
  /** By a filter, with a bound on how many. */
  readonly mayUpdateMany: boolean
  readonly mayDeleteMany: boolean
  /** Whether the caller may save views for others. */
  readonly mayShare: boolean
}

/** Requested once for all collections of a workspace, beside the manifest. Undefined: there is no such collection for the caller. */
export function modelQuery(workspace: string, collection: string): Query<CollectionModel | null> {
  return {
    queryKey: ['model', workspace, collection, language.value],
    staleTime: 300_000,
    queryFn: async () => {
      const [manifest, access, names] = await Promise.all([
        queries.fetchQuery(manifestQuery(workspace)),
        queries.fetchQuery(accessQuery(workspace)),
        queries.fetchQuery(namesQuery(workspace)),
      ])
      return modelOf(manifest, collection, access, names)
    },
  }
}

export type Action = 'read' | 'create' | 'update' | 'delete'

/** Whether the caller may use this field so, in some rows at least. */
export function mayUse(access: Access, collection: string, action: Action, field: string): boolean {
  const rights = access.collections[collection]?.[action] ?? 'none'
  return rights === 'all' || (rights !== 'none' && rights.fields.includes(field))
}

function mayDo(access: Access, collection: string, action: Action): boolean {
  return (access.collections[collection]?.[action] ?? 'none') !== 'none'
}

function modelOf(
  manifest: ManifestText,
  collection: string,
  access: Access,
  names: Presentations,
): CollectionModel | null {
  const { strings, serviceSchema, primitiveTypes } = manifest
  const text = (index: number | undefined) => strings[index ?? -1] ?? ''
  const ofFiles: Readonly<Record<string, string>> = t.value.files.fields
  const entry = serviceSchema.collections.find(({ apiName }) => text(apiName) === collection)
  if (entry === undefined || !mayDo(access, collection, 'read')) return null

  const operations = new Set(
    manifest.querySchema.operations.filter(([, of]) => of === entry.apiName).map(([kind]) => kind),
  )
  const keyOf = ({ indexes = [] }: CollectionEntry) => indexes.find(({ kind }) => kind === 'primary')?.fields ?? []
  const fieldsOf = (of: CollectionEntry): readonly FieldModel[] => {
    const ofName = text(of.apiName)
    const key = keyOf(of)
    const operators = operatorsOf(manifest, of)
    const all = of.primitiveFields
      .map((field, index) => {
        const name = text(field.apiName)
        // Who may change nothing is not told what others may change.
        const isFixed = mayDo(access, ofName, 'update') && (field.isReadonly === true || !operations.has('updateOne'))
        return {
          id: field.id,
          name,
          title: names.get(field.id)?.displayName ?? (ofName === FILES ? ofFiles[name] : undefined) ?? name,
          description: names.get(field.id)?.description ?? null,
          type: primitiveTypes[field.type]?.name ?? '',
          isNullable: field.isNullable ?? false,
          isList: field.isList ?? false,
          values: (field.values ?? []).map(text),
          operators: operators.get(name) ?? [],
          isKey: key.includes(index),
          hasDefault: field.defaultValue !== undefined && field.defaultValue !== null,
          sort: names.get(field.id)?.sort ?? null,
          isHidden: names.get(field.id)?.isHidden ?? false,
          isFixed,
          ...(ofName === FILES && name === 'fileSize' && { isSize: true }),
          mayUpdate: !isFixed && mayUse(access, ofName, 'update', name),
          mayCreate: !field.isReadonly && operations.has('create') && mayUse(access, ofName, 'create', name),
        }
      })
      .filter(({ name }) => mayUse(access, ofName, 'read', name))
    return inOrder(all, ({ sort }) => sort)
  }
  const shownOf = (of: CollectionEntry, all = fieldsOf(of)): Display | undefined =>
    text(of.apiName) === FILES ? fileDisplay(all) : displayOf(all, names.get(of.id)?.displayTemplate)
  const fields = fieldsOf(entry)
  const key = keyOf(entry).map((index) => text(entry.primitiveFields[index]?.apiName))
  const isUpdateBounded = isBounded(manifest, entry, 'updateMany')
  const isDeleteBounded = isBounded(manifest, entry, 'deleteMany')
  const isAddressed = operations.has('readOne') && key.every((name) => fields.some((field) => field.name === name))
  const relations = entry.relationFields.flatMap((relation) => {
    const other = serviceSchema.collections[relation.oppositeCollection]
    if (other === undefined || !mayDo(access, text(other.apiName), 'read')) return []
    const name = text(relation.apiName)
    return { relation, other, name, title: names.get(relation.id)?.displayName ?? name, to: text(other.apiName) }
  })
  const filtered = operatorsOf(manifest, entry)
  const isFilterable = (name: string) => filtered.has(name) && mayUse(access, collection, 'read', name)
  const linked = linksOf(
    {
      manifest,
      nameOf: ({ apiName }) => text(apiName),
      keyOf,
      displayOf: shownOf,
      may: ({ apiName }, action, field) =>
        field === undefined ? mayDo(access, text(apiName), action) : mayUse(access, text(apiName), action, field),
    },
    entry,
  )
  return {
    id: entry.id,
    name: collection,
    title: names.get(entry.id)?.displayName ?? collection,
    key: isAddressed ? key : [],
    fields,
    display: shownOf(entry, fields),
    toOne: relations.flatMap(({ relation, other, name, title, to }) => {
      if (relation.isList || !mayUse(access, collection, 'read', name)) return []
      const shown = fieldsOf(other)
      const display = shownOf(other, shown)
      if (display === undefined) return []
      const own = keyOf(other).map((index) => relation.linkingFields.find(([, opposite]) => opposite === index)?.[0])
      const by = own.map((index) => text(entry.primitiveFields[index ?? -1]?.apiName))
      const otherKey = keyOf(other).map((index) => text(other.primitiveFields[index]?.apiName))
      const isWhole = by.every((own) => fields.some((field) => field.name === own))
      const isReadable = otherKey.every((part) => mayUse(access, to, 'read', part))
      return {
        id: relation.id,
        name,
        title,
        to,
        sort: names.get(relation.id)?.sort ?? null,
        isHidden: names.get(relation.id)?.isHidden ?? false,
        display,
        fields: shown,
        key: otherKey,
        by: isWhole && isReadable ? by : [],
        isFilterable: isFilterable(name),
      }
    }),
    toMany: relations.flatMap(({ relation, other, name, title, to }) => {
      if (!relation.isList) return []
      const opposite = other.relationFields[relation.oppositeField ?? -1]
      const back = text(opposite?.apiName)
      const onDelete = relation.through
        ? undefined
        : ((opposite as Constrained | undefined)?.constraint?.onDelete ?? 'unheld')
      const links = relation.through
        ? key.map((own) => ({ path: [back, own], own }))
        : relation.linkingFields.map(([own, opposite]) => ({
            path: [text(other.primitiveFields[opposite]?.apiName)],
            own: text(entry.primitiveFields[own]?.apiName),
          }))
      const isSeen = links.every(
        ({ path: [first = ''], own }) =>
          mayUse(access, to, 'read', first) && fields.some((field) => field.name === own),
      )
      if (links.length === 0 || !isSeen) return []
      const canFilter = isFilterable(name)
      const shown = { name, title, to, fields: fieldsOf(other), links, isFilterable: canFilter, ...linked(relation) }
      return onDelete === undefined ? shown : { ...shown, onDelete }
    }),
    hasHistory: entry.hasHistory === true,
    mayCreate: operations.has('create') && mayDo(access, collection, 'create'),
    mayDelete: operations.has('deleteOne') && mayDo(access, collection, 'delete'),
    mayAggregate: entry.canAggregate === true,
    takesBatches: isUpdateBounded || isDeleteBounded,
    mayUpdateMany: isAddressed && isUpdateBounded && mayDo(access, collection, 'update'),
    mayDeleteMany: isAddressed && isDeleteBounded && mayDo(access, collection, 'delete'),
    mayShare: access.entitlements.includes('dataModel:edit'),
  }
}

/** By the display template where all its fields are read, else by what most likely names an item, else by its key. */
function displayOf(fields: readonly FieldModel[], template: string | null | undefined): Display | undefined {
  const shows = [...(template ?? '').matchAll(variables)].map(([, name = '']) => name)
  const named = shows.flatMap((name) => fields.find((field) => field.name === name) ?? [])
  const [first] = named
  if (first && template && named.length === shows.length) return { ...first, template, shows }
  const field = namingField(fields)
  return field && { ...field, template: `{{${field.name}}}`, shows: [field.name] }
}

/** A file is called by its name; its type says what is shown of it. */
function fileDisplay(fields: readonly FieldModel[]): Display | undefined {
  const name = fields.find((field) => field.name === 'fileName')
  if (name === undefined) return displayOf(fields, undefined)
  const shows = fields.filter((field) => field === name || field.name === 'mediaType').map((field) => field.name)
  return { ...name, template: '{{fileName}}', shows }
}

const variables = /\{\{\s*(\w+)\s*\}\}/g

/** What an item is called; empty where nothing of it is there. */
export function calledBy({ template, shows }: Display, row: Row): string {
  if (shows.every((name) => textOf(row[name]) === '')) return ''
  return template.replaceAll(variables, (_, name: string) => textOf(row[name])).trim()
}

/** What an item is called, or its key where nothing of that is there. */
export function nameOf({ display, key }: Pick<CollectionModel, 'display' | 'key'>, row: Row): string {
  return (display && calledBy(display, row)) || key.map((name) => textOf(row[name])).join(', ')
}

/** Those that are not hidden, or by which something is chosen that is not; of a new item those that it needs, too. */
export function formFields({ fields, toOne }: CollectionModel, isNew = false): readonly FieldModel[] {
  const chosen = new Set(toOne.filter(({ isHidden }) => !isHidden).flatMap(({ by }) => by))
  const isNeeded = ({ isNullable, hasDefault }: FieldModel) => isNew && !isNullable && !hasDefault
  return fields.filter((field) => !field.isHidden || chosen.has(field.name) || isNeeded(field))
}
