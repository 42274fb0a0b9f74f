/**
 * `npm run bench`: measures every figure as a ratio to a bare handler, or as a difference to an empty Worker, in the
 * same run. `npm run bench -- --figures list,memory` measures some of them. Exits with 1 if a bound is missed.
 */
import { parseArgs } from 'node:util'
import { type Bound, type Figure, figures, type Measured } from './bench/figures.ts'
import { openLab } from './bench/lab.ts'
import { endWithNpm } from './npm-run.ts'

endWithNpm()
await main().catch((error) => {
  clearLine()
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})

async function main(): Promise<void> {
  const chosen = chooseFigures(process.argv.slice(2))
  const results: Measured[] = []
  const lab = openLab(showProgress)
  try {
    for (const { name, measure } of chosen) {
      const measured = await measure(lab, (text) => showProgress(`${name}: ${text}`))
      clearLine()
      for (const each of measured) console.log(`  ${each.what}: ${valueText(each)}`)
      results.push(...measured)
    }
  } finally {
    clearLine()
    await lab.close()
  }
  printTable(results)
  if (!results.every(isKept)) process.exitCode = 1
}

function chooseFigures(args: string[]): readonly Figure[] {
  const { values } = parseArgs({ args, options: { figures: { type: 'string' } } })
  if (values.figures === undefined) return figures
  const names = values.figures.split(',')
  const unknown = names.filter((name) => !figures.some((figure) => figure.name === name))
  if (unknown.length === 0) return figures.filter(({ name }) => names.includes(name))
  throw new Error(`There is no figure ${unknown.join(', ')}; there are ${figures.map(({ name }) => name).join(', ')}`)
}

function isKept({ bound, value }: Measured): boolean {
  if (bound.isReached) return true
  return bound.kind === 'atLeast' ? value >= bound.value : value <= bound.value
}

function printTable(results: readonly Measured[]): void {
  const rows = [
    ['Figure', 'Bound', 'Measured', '', 'Made of'],
    ...results.map((each) => [
      each.what,
      boundText(each.bound, each.unit),
      valueText(each),
      isKept(each) ? 'ok' : 'MISSED',
      each.detail,
    ]),
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  console.log(`\n${lines.join('\n')}\n`)
}

function boundText({ kind, value }: Bound, unit: Measured['unit']): string {
  return `${kind === 'atLeast' ? '≥' : '≤'} ${[value, unit].join(' ').trim()}`
}

function valueText({ value, unit }: Measured): string {
  return unit === '' ? value.toFixed(2) : `${value.toFixed(0)} ${unit}`
}

function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K  ${text}`)
}

function clearLine(): void {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
}
