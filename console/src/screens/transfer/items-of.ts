/** The new item that a record of a file becomes, or what of it does not fit. */
import { numberText, parseExactly } from '../../data/exact-json.ts'
import { t } from '../../messages/messages.ts'
import type { FieldModel } from '../grid/model.ts'
import { parse, type Row, type Value } from '../grid/values.ts'
import { isGuarded, unguarded } from './formulas.ts'
import { type FileRecord, type Place, recordsOf, type Source, valueIn } from './records.ts'

/** Which column of the file becomes which field, and whether an apostrophe before what looks like a formula is taken away. */
export type Plan = {
  readonly kind: Source['kind']
  readonly fields: ReadonlyMap<string, FieldModel>
  readonly isSafe: boolean
}

export type Wrong = Place & { readonly field: string; readonly why: string }
export type Made = { readonly item: Row } | { readonly wrong: Wrong }

export function itemOf({ line, number, values }: FileRecord, { fields, ...how }: Plan): Made {
  const item: Record<string, Value> = {}
  for (const [name, field] of fields) {
    const read = valueFor(valueIn(values, name), field, how)
    if ('wrong' in read) return { wrong: { line, number, field: field.title, why: t.value.grid.wrong[read.wrong] } }
    if (read.value !== undefined) item[field.name] = read.value
  }
  return { item }
}

/** Undefined is left out, so that the default counts. */
function valueFor(value: Value, field: FieldModel, { kind, isSafe }: Omit<Plan, 'fields'>): ReturnType<typeof parse> {
  if (value === null || value === undefined) {
    if (field.isNullable) return { value }
    return field.hasDefault ? { value: undefined } : { wrong: 'required' }
  }
  const isJson = field.isList || field.type === 'json'
  if (isJson && kind === 'json') return field.isList && !Array.isArray(value) ? { wrong: 'list' } : { value }
  if (typeof value === 'string') {
    if (isJson) return fromJson(value, field)
    return parse(field, isSafe && field.type === 'string' ? unguarded(value) : value)
  }
  return parse(field, numberText(value) ?? (typeof value === 'object' ? JSON.stringify(value) : String(value)))
}

function fromJson(text: string, { isList, isNullable }: FieldModel): ReturnType<typeof parse> {
  if (text.trim() === '') return isNullable ? { value: null } : { wrong: 'required' }
  try {
    const value = parseExactly(text)
    return isList && !Array.isArray(value) ? { wrong: 'list' } : { value }
  } catch {
    return { wrong: isList ? 'list' : 'json' }
  }
}

/** The result of the check of a file, shown before anything is sent. */
export type Checked = {
  readonly fits: number
  readonly wrongs: number
  /** The first of them. */
  readonly listed: readonly Wrong[]
  readonly samples: readonly FileRecord[]
  readonly hasGuarded: boolean
  /** Some of the members of a file of JSON that are none of its columns, since they come late in it. */
  readonly late: readonly string[]
}

const MOST_LISTED = 50
const SAMPLES = 5
const LATE = 20

/** Reads all of the file; throws `UnreadableFile`. */
export async function checkSource(source: Source, plan: Plan, signal: AbortSignal): Promise<Checked> {
  let [fits, wrongs, hasGuarded] = [0, 0, false]
  const listed: Wrong[] = []
  const samples: FileRecord[] = []
  const known = new Set(source.names)
  const late = new Set<string>()
  for await (const record of recordsOf(source)) {
    signal.throwIfAborted()
    const made = itemOf(record, plan)
    if ('wrong' in made) {
      wrongs += 1
      if (listed.length < MOST_LISTED) listed.push(made.wrong)
    } else fits += 1
    if (samples.length < SAMPLES) samples.push(record)
    for (const name of Object.keys(record.values)) {
      if (late.size < LATE && !known.has(name)) late.add(name)
    }
    hasGuarded ||= source.kind === 'csv' && Object.values(record.values).some(isGuarded)
  }
  return { fits, wrongs, listed, samples, hasGuarded, late: [...late] }
}
