/** The rules of names, which hold for what is new or renamed, and what columns are called for which the file gives no name. */
import { byteLength } from '../migration/derive.ts'
import { MAX_NAME_LENGTH } from '../model/api-name.ts'
import { lookupOf } from '../model/lookup.ts'
import type { ModelRecords } from '../model/model.ts'
import { fileFault } from './reading.ts'
import type { CollectionShape } from './resolution.ts'

export function checkApiName(name: string, place: string): void {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
    throw fileFault(place, 'must start with a letter and contain only letters, digits and underscores')
  }
  if (name.length > MAX_NAME_LENGTH) throw fileFault(place, `must have at most ${MAX_NAME_LENGTH} characters`)
}

export function checkDbName(name: string, place: string): void {
  if (name.includes('\0') || !name.isWellFormed()) throw fileFault(place, 'has characters that no database can store')
  if (byteLength(name) > MAX_NAME_LENGTH) throw fileFault(place, `must be at most ${MAX_NAME_LENGTH} bytes long`)
}

/**
 * Returns the name of the column of a field for which the file gives none: in snake_case where the columns of its collection are, or where these do not tell those
 * of its source; else the name of the field. Columns that the file itself gives a name count as well, so that the next plan decides alike.
 */
export function columnNames(shapes: readonly CollectionShape[], records: ModelRecords) {
  const { fieldsOf } = lookupOf(records)
  const sources = new Map<string, Style>()
  for (const { id, sourceId } of records.collections) {
    sources.set(
      sourceId,
      styleOf(
        fieldsOf(id).map(({ dbName }) => dbName),
        sources.get(sourceId),
      ),
    )
  }
  const styles = new Map(
    shapes.map((shape) => {
      const { before, record } = shape.matched
      const given = [...shape.columns.values()].flatMap(({ file }) => file?.dbName ?? [])
      const own = styleOf([...fieldsOf(before?.id).map(({ dbName }) => dbName), ...given], undefined)
      return [shape, own ?? sources.get(record.sourceId)]
    }),
  )
  return (shape: CollectionShape, name: string) => (styles.get(shape) === 'snake' ? inSnakeCase(name) : name)
}

/** Undefined where no name tells: none has a capital or an underscore. */
type Style = 'snake' | 'other' | undefined

function styleOf(names: readonly string[], known: Style): Style {
  if (known === 'other' || names.some((name) => name !== name.toLowerCase())) return 'other'
  return known ?? (names.some((name) => name.includes('_')) ? 'snake' : undefined)
}

function inSnakeCase(name: string): string {
  return name
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
}
