/** A plan of the service as lines for people: what changes, who gains and loses, what is lost, and the SQL. */
import type { Plan, Right } from 'governed-data-client/system'
import type { Terminal } from './terminal.ts'

type Paint = Terminal['paint']

export function planLines(plan: Plan, paint: Paint): readonly string[] {
  const { changes, access, destructive, statements, missing, warnings } = plan
  return [
    ...changes.flatMap((change) => changeLines(change, paint)),
    ...section('access', [
      ...access.granted.map((right) => paint('green', `+ ${rightText(right)}`)),
      ...access.revoked.map((right) => paint('red', `- ${rightText(right)}`)),
    ]),
    ...section(
      'lost',
      destructive.map(({ path, rows, holders }) => paint('red', `! ${path}${rowsText(rows)}${holdersText(holders)}`)),
    ),
    ...section(
      'SQL',
      statements.map(({ sql }) => `${sql};`),
    ),
    ...section(
      'missing rights',
      missing.map((name) => paint('yellow', name)),
    ),
    ...section(
      'warnings',
      warnings.map(({ message }) => paint('yellow', message)),
    ),
  ]
}

const signs = {
  create: ['+', 'green'],
  change: ['~', 'yellow'],
  rename: ['>', 'yellow'],
  delete: ['-', 'red'],
} as const

function changeLines({ action, path, from, to }: Plan['changes'][number], paint: Paint): readonly string[] {
  const [sign, style] = signs[action]
  const line = paint(style, `${sign} ${path}`)
  if (action === 'delete') return [line]
  if (action === 'create' && isCollection(to)) return [line, ...collectionLines(to)]
  const texts = [from, to].filter((value) => value !== undefined).map(valueText)
  return [texts.length > 0 ? `${line}  ${texts.join(' -> ')}` : line]
}

type Collection = { readonly fields: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>

function isCollection(value: unknown): value is Collection {
  return typeof value === 'object' && value !== null && 'fields' in value && !Array.isArray(value.fields)
}

/** A new collection, a line for each of its fields. */
function collectionLines({ fields, ...others }: Collection): readonly string[] {
  const width = Math.max(0, ...Object.keys(fields).map((name) => name.length))
  return [
    ...Object.entries(fields).map(([name, value]) => `    ${name.padEnd(width)}  ${valueText(value)}`),
    ...Object.entries(others).map(([name, value]) => `    ${name}: ${valueText(value)}`),
  ]
}

const valueText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function rightText({ role, policy, collection, action, entitlement }: Right): string {
  const what = entitlement ?? [collection, action].filter((part) => part !== undefined).join(' ')
  return `${role}: ${what} (${policy})`
}

const rowsText = (rows: number | null) => (rows === null ? '' : `, ${rows} ${rows === 1 ? 'row' : 'rows'}`)

const holdersText = (holders: number | undefined) => (holders === undefined ? '' : `, held by ${holders}`)

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`)]
}

export const changesText = (count: number) => (count === 1 ? '1 change' : `${count} changes`)
