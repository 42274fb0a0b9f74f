/** The records of a file of CSV or JSON, read piece by piece: however large it is, a piece of it is in memory. */
import { parseExactly } from '../../data/exact-json.ts'

type Row = Readonly<Record<string, unknown>>

/** `values` of CSV are texts, and null where there is nothing between two separators. */
export type FileRecord = Place & { readonly values: Row }

/** `number` counts the records from 1 on. */
export type Place = { readonly line: number; readonly number: number }

export type Source = {
  readonly kind: 'csv' | 'json'
  readonly file: File
  /** What the file calls its columns. */
  readonly names: readonly string[]
  /** Whether several records begin in one line, so that only their numbers tell them apart. */
  readonly isDense: boolean
}

/** What cannot be read at all, and where. */
export class UnreadableFile extends Error {
  readonly line: number
  constructor(line: number) {
    super(`Line ${line} cannot be read`)
    this.line = line
  }
}

/** Members of so many objects are the columns of a file of JSON. */
const LOOKED_AT = 100

export async function openSource(file: File): Promise<Source> {
  const kind = (await firstCharacter(file)).match(/[[{]/) ? 'json' : 'csv'
  if (kind === 'csv') {
    for await (const { cells } of csvLines(file)) {
      return { kind, file, names: distinct(cells.map((cell) => cell ?? '')), isDense: false }
    }
    return { kind, file, names: [], isDense: false }
  }
  const names = new Set<string>()
  const lines = new Set<number>()
  let isDense = false
  for await (const { line, number, values } of jsonObjects(file)) {
    for (const name of Object.keys(values)) names.add(name)
    isDense ||= lines.has(line)
    lines.add(line)
    if (number === LOOKED_AT) break
  }
  return { kind, file, names: [...names], isDense }
}

export function recordsOf({ kind, file, names }: Source): AsyncGenerator<FileRecord> {
  return kind === 'csv' ? csvRecords(file, names) : jsonObjects(file)
}

/** What a record calls so itself; what every object has is none of it. */
export function valueIn(values: Row, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

/** `name (2)` for the second column of one name. */
function distinct(heads: readonly string[]): readonly string[] {
  const names = new Set<string>()
  const given = new Set(heads)
  const counts = new Map<string, number>()
  for (const head of heads) {
    let name = head
    while (names.has(name) || (name !== head && given.has(name))) {
      const count = (counts.get(head) ?? 1) + 1
      counts.set(head, count)
      name = `${head} (${count})`
    }
    names.add(name)
  }
  return [...names]
}

async function* csvRecords(file: File, names: readonly string[]): AsyncGenerator<FileRecord> {
  let isHead = true
  let number = 0
  for await (const { line, cells } of csvLines(file)) {
    const isEmpty = cells.length === 1 && cells[0] === null
    if (!isHead && !isEmpty) {
      if (cells.length > names.length) throw new UnreadableFile(line)
      number += 1
      yield { line, number, values: Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null])) }
    }
    isHead = false
  }
}

type Line = { readonly line: number; readonly cells: readonly (string | null)[] }

/** Records as RFC 4180 has them, whichever line breaks they end with; one inside of quotes ends none. */
async function* csvLines(file: File): AsyncGenerator<Line> {
  const separator = await separatorOf(file)
  let [line, firstLine] = [1, 1]
  let cells: (string | null)[] = []
  let cell = ''
  let state: 'plain' | 'quoted' | 'behind' = 'plain'
  let wasQuoted = false
  let isAfterReturn = false
  const endCell = () => {
    cells.push(cell === '' && !wasQuoted ? null : cell)
    cell = ''
    wasQuoted = false
    state = 'plain'
  }
  for await (const piece of piecesOf(file)) {
    for (const character of piece) {
      const isSecond = character === '\n' && isAfterReturn
      isAfterReturn = character === '\r'
      if (isAfterReturn || (character === '\n' && !isSecond)) line += 1
      if (state === 'quoted') {
        if (character === '"') state = 'behind'
        else cell += character
      } else if (character === '"' && state === 'behind') {
        cell += '"'
        state = 'quoted'
      } else if (character === '"' && cell === '') {
        state = 'quoted'
        wasQuoted = true
      } else if (character === separator) endCell()
      else if (isSecond) continue
      else if (character === '\n' || character === '\r') {
        endCell()
        yield { line: firstLine, cells }
        cells = []
        firstLine = line
      } else {
        if (state === 'behind') throw new UnreadableFile(line)
        cell += character
      }
    }
  }
  if (state === 'quoted') throw new UnreadableFile(firstLine)
  if (cells.length > 0 || cell !== '' || wasQuoted) {
    endCell()
    yield { line: firstLine, cells }
  }
}

/** The one of comma, semicolon and tab that stands most often in the first line. */
async function separatorOf(file: File): Promise<string> {
  const [first = ''] = (await file.slice(0, 65_536).text()).replaceAll(/"[^"]*"/g, '').split(/[\r\n]/)
  const counts = [',', ';', '\t'].map((one) => [first.split(one).length, one] as const)
  return counts.toSorted(([one], [other]) => other - one)[0]?.[1] ?? ','
}

/** Objects of a list, or one after the other; their texts are parsed each by itself. */
async function* jsonObjects(file: File): AsyncGenerator<FileRecord> {
  let [line, firstLine, depth, number] = [1, 1, 0, 0]
  let text = ''
  let isInList = false
  let isInText = false
  let isEscaped = false
  for await (const piece of piecesOf(file)) {
    for (const character of piece) {
      if (character === '\n') line += 1
      if (depth === 0) {
        if (character === '{') firstLine = line
        else if (/[\s,]/.test(character)) continue
        else if (character !== (isInList ? ']' : '[')) throw new UnreadableFile(line)
        else {
          isInList = !isInList
          continue
        }
      }
      text += character
      if (isEscaped) isEscaped = false
      else if (isInText && character === '\\') isEscaped = true
      else if (character === '"') isInText = !isInText
      else if (!isInText && character === '{') depth += 1
      else if (!isInText && character === '}') depth -= 1
      if (depth > 0) continue
      number += 1
      yield { line: firstLine, number, values: objectIn(text, firstLine) }
      text = ''
    }
  }
  if (depth > 0) throw new UnreadableFile(firstLine)
  if (isInList) throw new UnreadableFile(line)
}

function objectIn(text: string, line: number): Row {
  try {
    return parseExactly(text) as Row
  } catch {
    throw new UnreadableFile(line)
  }
}

/** Its text, without a mark of its byte order. Throws where it is no UTF-8. */
async function* piecesOf(file: File): AsyncGenerator<string> {
  const reader = file
    .stream()
    .pipeThrough(new TextDecoderStream('utf-8', { fatal: true }))
    .getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

async function firstCharacter(file: File): Promise<string> {
  return (await file.slice(0, 1_024).text()).trim().slice(0, 1)
}
