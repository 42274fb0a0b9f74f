/**
 * Sequences of what one person does to the cells of a grid, and a model of what they come to: rows in memory, each deed
 * whole or not at all, and a way back and forth. It knows nothing of when anything is saved.
 */
import fc, { type Arbitrary } from 'fast-check'

export type Cell = { readonly row: number; readonly column: number }
/** From its upper corner at the text's beginning, with so many more rows and columns. */
export type Block = Cell & { readonly down: number; readonly along: number }

/** Between `hold` and `release` nothing that is saved reaches the service. */
export type Deed =
  | { readonly kind: 'edit'; readonly at: Cell; readonly text: string }
  | { readonly kind: 'toggle'; readonly row: number }
  | { readonly kind: 'clear' | 'fill down' | 'fill along'; readonly over: Block }
  | { readonly kind: 'paste'; readonly over: Block; readonly texts: readonly (readonly string[])[] }
  | { readonly kind: 'undo' | 'redo' | 'leave and come back' | 'hold' | 'release' }

export type Value = string | number | boolean | null | readonly string[]
export type Values = Readonly<Record<string, Value>>

/** `refused` by the grid as a whole, by the server, or by the input that it was typed into. */
export type Outcome = 'done' | 'refused' | 'refused by the server' | 'wrong'

type Column = {
  readonly name: string
  readonly mayBeNull: boolean
  /** Texts as they are typed and pasted, those that fit it first. */
  readonly texts: readonly string[]
  readonly wrong: readonly string[]
  /** Undefined where a text does not fit. */
  readonly read: (text: string) => Value | undefined
}

const matching = (pattern: RegExp, read: (text: string) => Value) => (text: string) =>
  pattern.test(text.trim()) ? read(text.trim()) : undefined

const list = (text: string): Value | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.map(String) : undefined
  } catch {
    return undefined
  }
}

/** Beyond what the server takes; the grid itself knows no bounds. */
const TOO_LARGE = 99_999
const texts = ['a', 'Ada "the first"', ' led by a space', '7', '=1+1', 'مرحبا', '🙂', '']

/** In the order of the grid; a `maker` is shown by the field that refers. */
export const columns: readonly Column[] = [
  { name: 'title', mayBeNull: false, texts, wrong: [], read: (text) => text },
  {
    name: 'size',
    mayBeNull: true,
    texts: ['1', '-12', '300'],
    wrong: ['x', '1.5', String(TOO_LARGE)],
    read: matching(/^[+-]?\d+$/, Number),
  },
  {
    name: 'isOn',
    mayBeNull: true,
    texts: ['true', 'FALSE'],
    wrong: ['perhaps'],
    read: matching(/^(true|false)$/i, (text) => text.toLowerCase() === 'true'),
  },
  {
    name: 'day',
    mayBeNull: true,
    texts: ['2026-01-31', '0001-01-01'],
    wrong: ['31.1.2026'],
    read: matching(/^\d{4}-\d\d-\d\d$/, String),
  },
  {
    name: 'price',
    mayBeNull: true,
    texts: ['12345678901234.5678', '0.0000', '-2.5000'],
    wrong: ['1,5'],
    read: matching(/^[+-]?\d+(\.\d+)?$/, String),
  },
  { name: 'tags', mayBeNull: true, texts: ['["x", "y\\t"]', '[]'], wrong: ['x', '{}'], read: list },
  { name: 'note', mayBeNull: true, texts, wrong: [], read: (text) => text },
  { name: 'makerId', mayBeNull: true, texts: [], wrong: ['Ada'], read: () => undefined },
]

export const ROWS = 3
const TITLE = 0
const ON = columns.findIndex(({ name }) => name === 'isOn')
const MAKER = columns.length - 1

const anyBlock: Arbitrary<Block> = fc.record({
  row: fc.nat(ROWS - 1),
  column: fc.nat(MAKER),
  down: fc.nat(2),
  along: fc.nat(2),
})

/** What fits most of the time, and what fits beside it. */
const anyText = (column: number) => {
  const { texts: fitting = [], wrong = [] } = columns[column] ?? {}
  const all = [{ arbitrary: fc.constantFrom('', ...fitting), weight: 6 }]
  return fc.oneof(...all, ...(wrong.length > 0 ? [{ arbitrary: fc.constantFrom(...wrong), weight: 1 }] : []))
}

const anyPaste = anyBlock.chain((over) => {
  const line = Array.from({ length: over.along + 1 }, (_, at) => anyText(over.column + at))
  const block = fc.array(fc.tuple(...line), { minLength: 1, maxLength: 3 })
  return block.map((drawn): Deed => ({ kind: 'paste', over, texts: drawn }))
})

const anyEdit = fc
  .record({ row: fc.nat(ROWS - 1), column: fc.constantFrom(0, 0, 1, 3, 4, 5, 6) })
  .chain((at) => anyText(at.column).map((text): Deed => ({ kind: 'edit', at, text })))

const alone = (kind: 'undo' | 'redo' | 'leave and come back' | 'hold' | 'release'): Deed => ({ kind })

const anyDeed: Arbitrary<Deed> = fc.oneof(
  { arbitrary: anyEdit, weight: 6 },
  { arbitrary: fc.nat(ROWS - 1).map((row): Deed => ({ kind: 'toggle', row })), weight: 1 },
  { arbitrary: anyPaste, weight: 4 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('clear', 'fill down', 'fill along'), anyBlock)
      .map(([kind, over]): Deed => ({ kind, over })),
    weight: 5,
  },
  { arbitrary: fc.constantFrom('undo', 'undo', 'redo').map(alone), weight: 6 },
  { arbitrary: fc.constantFrom('leave and come back', 'hold', 'hold', 'hold', 'release').map(alone), weight: 4 },
)

/** Some are done twice. */
export const anyDeeds = fc
  .array(fc.tuple(anyDeed, fc.nat(2)), { minLength: 4, maxLength: 10 })
  .map((drawn) => drawn.flatMap(([deed, once]) => (once > 0 ? [deed] : [deed, deed])))

/** Rows to begin with; who made them are `makers`. */
export const anyRows = (makers: readonly string[]) =>
  fc.array(
    fc
      .tuple(...columns.map(({ texts: fitting }) => fc.constantFrom(...fitting, '')))
      .chain((drawn) => fc.constantFrom(null, ...makers).map((maker) => rowOf(drawn, maker))),
    { minLength: ROWS, maxLength: ROWS },
  )

function rowOf(drawn: readonly string[], maker: string | null): Values {
  const values = columns.map(({ name, read }, at) => [name, read(drawn[at] ?? '') ?? null] as const)
  return { ...Object.fromEntries(values), makerId: maker }
}

type Change = Cell & { readonly before: Value; readonly after: Value }

export function modelOf(begun: readonly Values[]) {
  const rows = begun.map((row) => columns.map(({ name }) => row[name] ?? null))
  const [steps, undone]: [Change[][], Change[][]] = [[], []]
  const at = ({ row, column }: Cell): Value => rows[row]?.[column] ?? null
  const set = ({ row, column }: Cell, value: Value) => {
    const of = rows[row]
    if (of) of[column] = value
  }

  /** A deed counts where it changes something; what the server refuses is tried, which ends the way forth. */
  function change(wanted: readonly (readonly [Cell, Value])[]): Outcome {
    const changes = wanted.flatMap(([cell, after]) =>
      isSame(at(cell), after) ? [] : [{ ...cell, before: at(cell), after }],
    )
    if (changes.length === 0) return 'done'
    undone.length = 0
    if (changes.some(({ column, after }) => columns[column]?.name === 'size' && after === TOO_LARGE))
      return 'refused by the server'
    for (const one of changes) set(one, one.after)
    steps.push(changes)
    return 'done'
  }

  function all(cells: readonly Cell[], of: (cell: Cell) => Value | undefined): Outcome {
    const wanted = cells.map((cell) => [cell, of(cell)] as const)
    if (wanted.some(([, value]) => value === undefined)) return 'refused'
    return change(wanted as [Cell, Value][])
  }

  function go(from: Change[][], to: Change[][], side: 'before' | 'after'): Outcome {
    const step = from.pop()
    for (const one of step ?? []) set(one, one[side])
    if (step) to.push(step)
    return 'done'
  }

  const copied = (from: Cell, to: Cell): Value | undefined => {
    if (from.column === to.column) return at(from)
    // Before the first of these columns there is another one.
    const value = from.column < TITLE ? String(begun[from.row]?.id) : at(from)
    return value === null ? emptied(to) : readAt(to, textOf(value))
  }

  /** What a deed comes to. */
  function does(deed: Deed): Outcome {
    switch (deed.kind) {
      case 'edit': {
        const value = readAt(deed.at, deed.text)
        return value === undefined ? 'wrong' : change([[deed.at, value]])
      }
      case 'toggle': {
        const cell = { row: deed.row, column: ON }
        return change([[cell, at(cell) !== true]])
      }
      case 'clear':
        return all(cellsIn(within(deed.over)), emptied)
      case 'fill down': {
        const over = within(deed.over)
        const from = over.down === 0 ? over.row - 1 : over.row
        if (from < 0) return 'done'
        const others = cellsIn(over).filter(({ row }) => row !== from)
        return all(others, (cell) => copied({ ...cell, row: from }, cell))
      }
      case 'fill along': {
        const over = within(deed.over)
        const from = over.along === 0 ? over.column - 1 : over.column
        const others = cellsIn(over).filter(({ column }) => column !== from)
        return all(others, (cell) => copied({ ...cell, column: from }, cell))
      }
      case 'paste': {
        const over = within(deed.over)
        const [[one = ''] = []] = deed.texts
        const isOne = deed.texts.length === 1 && deed.texts[0]?.length === 1
        if (isOne) return all(cellsIn(over), (cell) => readAt(cell, one))
        const wide = Math.max(...deed.texts.map(({ length }) => length))
        const block = { ...over, down: deed.texts.length - 1, along: wide - 1 }
        return all(cellsIn(block), (cell) =>
          readAt(cell, deed.texts[cell.row - over.row]?.[cell.column - over.column] ?? ''),
        )
      }
      case 'undo':
        return go(steps, undone, 'before')
      case 'redo':
        return go(undone, steps, 'after')
      default:
        return 'done'
    }
  }
  const now = () => rows.map((row) => Object.fromEntries(columns.map(({ name }, place) => [name, row[place] ?? null])))
  return { does, now }
}

/** A block as the grid can choose it: what is beyond its edges is not in it. */
export function within({ row, column, down, along }: Block): Block {
  return { row, column, down: Math.min(down, ROWS - 1 - row), along: Math.min(along, MAKER - column) }
}

/** Undefined where a text does not fit a cell, or there is no such cell. */
function readAt({ row, column }: Cell, text: string): Value | undefined {
  const of = columns[column]
  if (of === undefined || row >= ROWS || column === MAKER) return undefined
  return of.mayBeNull && of.name !== 'note' && text.trim() === '' ? null : of.read(text)
}

function emptied({ column }: Cell): Value | undefined {
  return columns[column]?.mayBeNull ? null : undefined
}

function cellsIn({ row, column, down, along }: Block): readonly Cell[] {
  return Array.from({ length: down + 1 }, (_, below) =>
    Array.from({ length: along + 1 }, (__, beside) => ({ row: row + below, column: column + beside })),
  ).flat()
}

/** As it is copied. */
export function textOf(value: Value | undefined): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Lines with tabs, as spreadsheets put them on the clipboard. */
export function tabbed(lines: readonly (readonly string[])[]): string {
  const quoted = (text: string) => (/[\t\n]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return lines.map((line) => line.map(quoted).join('\t')).join('\n')
}

const isSame = (one: Value, other: Value) => JSON.stringify(one) === JSON.stringify(other)
