/** Writes the pages of docs/ that are made from code; test/core/configuration.test.ts sees to it that they are current. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { variables } from '../src/config.ts'

export function configurationPage(): string {
  const rows = Object.entries(variables).map(
    ([name, [schema, meaning]]) => `| \`${name}\` | ${defaultOf(schema)} | ${meaning} |`,
  )
  return `# Configuration

Generated from \`src/config.ts\` by \`node scripts/generate-docs.ts\`; do not edit.

All configuration comes from environment variables (on Workers: variables and secrets). A \`SERVICE_\` variable that is not
listed is warned of by name; a wrong value fails the start with the variable and the reason. Durations are written
\`900s\`, \`15m\`, \`12h\`, \`30d\`, sizes in bytes or as \`512KiB\`, \`4MiB\`; an empty value counts as unset.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`
}

type Schema = (typeof variables)[keyof typeof variables][0]

/** The default as one would write it. */
function defaultOf(schema: Schema): string {
  const value = schema.safeParse(undefined).data
  if (value === undefined) return '-'
  if (typeof value !== 'number') return `\`${value}\``
  if (schema.safeParse('1h').success) return `\`${withUnit(value, durations)}\``
  if (schema.safeParse('1KiB').success) return `\`${withUnit(value, sizes)}\``
  return `\`${value}\``
}

const durations = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
const sizes = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 }

function withUnit(value: number, units: Readonly<Record<string, number>>): string {
  if (value === 0 && 's' in units) return '0s'
  const [unit = '', amount = 1] = Object.entries(units).find(([, amount]) => value % amount === 0) ?? []
  return `${value / amount}${unit}`
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '../docs/configuration.md'), configurationPage())
