/** What a command is, and how its call is read: flags by `node:util`, everything unknown refused with what would be right. */
import { parseArgs } from 'node:util'
import { wrongCall } from './failure.ts'
import type { Host } from './host.ts'
import type { Terminal } from './terminal.ts'

export type Command = {
  /** As it is called: `schema pull`. */
  readonly name: string
  /** What follows the name, as help shows it. */
  readonly usage: string
  readonly summary: string
  /** Flags of its own, and whether each takes a value. */
  readonly flags: Readonly<Record<string, 'value' | 'switch'>>
  /** Names of what it takes beside flags; those with `?` may be left out. */
  readonly parameters: readonly string[]
  run(call: Call): Promise<Outcome>
}

export type Call = {
  readonly host: Host
  readonly terminal: Terminal
  /** Flags that were given with a value. */
  readonly values: Readonly<Record<string, string | undefined>>
  /** Flags that were given without. */
  readonly switches: ReadonlySet<string>
  readonly parameters: readonly string[]
}

/** `data` is what `--json` answers, `text` what people read. */
export type Outcome = {
  readonly data: unknown
  readonly text: readonly string[]
  /** `failed`: what was found is told, and is not well. */
  readonly state?: 'done' | 'differs' | 'failed'
}

/** Those of every command. */
export const commonFlags = { env: 'value', json: 'switch', yes: 'switch', help: 'switch' } as const

export type Parsed = Pick<Call, 'values' | 'switches' | 'parameters'>

export function parseCall(command: Command, words: readonly string[]): Parsed {
  const { values, positionals } = parsed(command, words)
  const required = command.parameters.filter((name) => !name.endsWith('?'))
  if (positionals.length < required.length) {
    throw wrongCall(`governed ${command.name} takes ${required[positionals.length]}`, usageOf(command))
  }
  if (positionals.length > command.parameters.length) {
    throw wrongCall(
      `governed ${command.name} does not take ${positionals[command.parameters.length]}`,
      usageOf(command),
    )
  }
  const given = Object.entries(values)
  return {
    values: Object.fromEntries(given.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))),
    switches: new Set(given.flatMap(([name, value]) => (value === true ? [name] : []))),
    parameters: positionals,
  }
}

function parsed(command: Command, words: readonly string[]) {
  const flags = Object.entries({ ...commonFlags, ...command.flags })
  const options = Object.fromEntries(
    flags.map(([name, kind]) => [name, { type: kind === 'value' ? ('string' as const) : ('boolean' as const) }]),
  )
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (cause) {
    const [reason = ''] = (cause instanceof Error ? cause.message : '').split('. ')
    throw wrongCall(`${reason[0]?.toLowerCase()}${reason.slice(1)}`, usageOf(command))
  }
}

export function usageOf({ name, usage }: Command): string {
  return `governed ${name}${usage && ` ${usage}`} [--env NAME] [--json] [--yes] [--help]`
}
