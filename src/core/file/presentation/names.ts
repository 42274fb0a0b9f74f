/**
 * How collections and fields are called and shown (docs/contract.md#names-and-views) as the member `names` of the model file: by the
 * path of what it is about, as in `ids`.
 */
import { shortName } from '../../message-text.ts'
import { isSystemSource, type Model, type SourceRecord } from '../../model/model.ts'
import { didYouMean } from '../../nearest.ts'
import { type FileShown, inOrder, type ModelFile } from '../file.ts'
import { fileFault, within } from '../reading.ts'
import { sortedJson } from '../sorted-json.ts'
import { shortShown } from './shown.ts'

/** What is stored of one collection or field. */
export type NameRecord = { readonly id: string; readonly isField: boolean; readonly shown: FileShown }

export type NameOperation = {
  readonly kind: 'setName' | 'deleteName'
  readonly data: { readonly id: string; readonly name: string; readonly [member: string]: unknown }
}

/** Those of what the model has and of which something is said, by path. */
export function exportNames(records: readonly NameRecord[], model: Model): ReadonlyMap<string, FileShown> {
  const things = thingsOf(records, model)
  const entries = records.flatMap(({ id, shown }) => {
    const thing = things.get(id)
    return thing === undefined || !saysSomething(shown) ? [] : [[thing.path, shown] as const]
  })
  return new Map(inOrder(entries))
}

/**
 * What is to be stored, where `model` is that of then. Records that stay as they are are the same objects; those of data sources
 * that the file does not name stay. Throws 422 with the place of what is about nothing.
 */
export function resolveNames(
  { names = new Map(), sources }: Pick<ModelFile, 'names' | 'sources'>,
  records: readonly NameRecord[],
  model: Model,
): readonly NameRecord[] {
  const isListed = (source: SourceRecord | undefined) =>
    isSystemSource(source) || sources?.has(source?.apiName ?? '') === true
  const before = new Map(records.map((record) => [record.id, record]))
  const wanted = new Map<string, NameRecord>()
  for (const [path, shown] of names) {
    const place = within('model.names', path)
    const { id, source, isField } = thingAt(path, place, model)
    if (!isListed(source)) {
      throw fileFault(place, `is of the data source ${source?.apiName}, which model.sources does not name`)
    }
    const old = before.get(id)
    if (old === undefined && !saysSomething(shown)) continue
    const isSame = old !== undefined && sortedJson(old.shown) === sortedJson(shown)
    wanted.set(id, isSame ? old : { id, isField, shown })
  }
  const things = thingsOf(records, model)
  const kept = records.filter(({ id, shown }) => {
    const thing = things.get(id)
    return thing !== undefined && !wanted.has(id) && (!saysSomething(shown) || !isListed(thing.source))
  })
  return [...kept, ...wanted.values()]
}

/** What an apply does; what goes with its collection or field needs no operation. `model` is that of then. */
export function nameOperations(
  before: readonly NameRecord[],
  after: readonly NameRecord[],
  model: Model,
): readonly NameOperation[] {
  const things = thingsOf([...before, ...after], model)
  const [was, is] = [new Set(before), new Set(after.map(({ id }) => id))]
  const named = ({ id }: NameRecord) => {
    const name = things.get(id)?.path
    return name === undefined ? [] : [{ id, name }]
  }
  const gone = before.filter(({ id }) => !is.has(id)).flatMap(named)
  return [
    ...gone.map((data) => ({ kind: 'deleteName', data }) as const),
    ...after
      .filter((record) => !was.has(record))
      .flatMap((record) => named(record).map((data) => ({ ...data, ...shortShown(record.shown) })))
      .map((data) => ({ kind: 'setName', data }) as const),
  ]
}

function saysSomething(shown: FileShown): boolean {
  return Object.keys(shown).length > 0
}

type Thing = { readonly path: string; readonly source: SourceRecord | undefined }

/** By their ids, what the records are about. */
function thingsOf(records: readonly NameRecord[], { collections, sources }: Model): ReadonlyMap<string, Thing> {
  const ids = new Set(records.map(({ id }) => id))
  const things = new Map<string, Thing>()
  if (ids.size === 0) return things
  for (const { id, apiName, sourceId, fields } of collections.values()) {
    const source = sources.get(sourceId)
    if (ids.has(id)) things.set(id, { path: apiName, source })
    for (const [name, field] of fields)
      if (ids.has(field.id)) things.set(field.id, { path: `${apiName}.${name}`, source })
  }
  return things
}

function thingAt(path: string, place: string, { byName, sources }: Model) {
  const [name = '', ...rest] = path.split('.')
  const collection = byName.get(name)
  if (collection === undefined || collection.isSystem) {
    const known = [...byName.values()].flatMap(({ apiName, isSystem }) => (isSystem ? [] : apiName))
    throw fileFault(place, `${shortName(name)} is not a collection${didYouMean(name, known)}`)
  }
  const { id, sourceId, fields } = collection
  const source = sources.get(sourceId)
  if (rest.length === 0) return { id, source, isField: false }
  const field = rest.join('.')
  const found = fields.get(field)
  if (found !== undefined) return { id: found.id, source, isField: true }
  throw fileFault(place, `${shortName(field)} is not a field of ${name}${didYouMean(field, fields.keys())}`)
}
