/** One call of `governed`: finds the command, runs it, writes its result or what went wrong, and answers the exit code. */
import { ServiceError } from 'governed-data-client'
import { type Command, parseCall, usageOf } from './command.ts'
import { commands } from './commands.ts'
import { errorDocument, exitCodes, Failure, wrongCall } from './failure.ts'
import type { Host } from './host.ts'
import { nearest } from './nearest.ts'
import { createTerminal, printable, printableJson, type Terminal } from './terminal.ts'
import { VERSION } from './version.ts'

export async function run(host: Host, words: readonly string[]): Promise<number> {
  const isJson = words.includes('--json')
  const terminal = createTerminal(host, { isQuiet: isJson })
  const document = (value: unknown) => host.stdout.write(`${printableJson(value)}\n`)
  try {
    const [command, rest] = commandOf(words)
    if (command === undefined || rest.includes('--help')) {
      const text = command === undefined ? overview() : helpOf(command)
      if (isJson) document({ data: { help: text } })
      else host.stdout.write(text)
      return exitCodes.done
    }
    const { data, text, state = 'done' } = await command.run({ host, terminal, ...parseCall(command, rest) })
    terminal.clear()
    if (isJson) document({ data })
    else for (const line of text) host.stdout.write(`${printable(line)}\n`)
    return exitCodes[state]
  } catch (cause) {
    const failure = failureOf(cause)
    terminal.clear()
    if (isJson) document(errorDocument(failure))
    else print(terminal, failure)
    return failure.exitCode
  }
}

function print(terminal: Terminal, { message, help }: Failure): void {
  terminal.say(`${terminal.paint('red', 'error:')} ${message}`)
  if (help !== undefined) terminal.say(`${terminal.paint('dim', 'help:')} ${help}`)
}

function failureOf(cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  if (cause instanceof ServiceError) return new Failure(cause.message, { cause })
  // A fault of ours: what it says, never where.
  return new Failure(cause instanceof Error ? cause.message : String(cause))
}

/** The command whose name the call begins with, and what follows; undefined where only help is asked for. */
function commandOf(words: readonly string[]): readonly [Command | undefined, readonly string[]] {
  const names = words.filter((word) => !word.startsWith('-'))
  if (names.length === 0) {
    const known = ['--help', '--json', '--version']
    const unknown = words.find((word) => !known.includes(word))
    if (unknown !== undefined) throw wrongCall(`${unknown} needs a command before it`, 'governed --help')
    return words.includes('--version') ? [version, []] : [undefined, []]
  }
  const found = commands.findLast(({ name }) => {
    const parts = name.split(' ')
    return parts.every((part, index) => words[index] === part)
  })
  if (found !== undefined) return [found, words.slice(found.name.split(' ').length)]
  const family = commands.filter(({ name }) => name.startsWith(`${words[0]} `))
  if (family.length > 0) {
    if (words.includes('--help')) return [undefined, []]
    throw wrongCall(`governed ${words[0]} takes ${family.map(({ name }) => name.split(' ')[1]).join(', ')}`)
  }
  const all = commands.map(({ name }) => name)
  throw wrongCall(`there is no command ${words[0]}${nearest(words[0] ?? '', all)}`, `one of ${all.join(', ')}`)
}

const version: Command = {
  name: '--version',
  usage: '',
  summary: '',
  flags: {},
  parameters: [],
  run: async () => ({ data: { version: VERSION }, text: [VERSION] }),
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `governed <command> [--env NAME] [--json] [--yes] [--help]\n\n${lines.join('\n')}\n\n${codes}`
}

const helpOf = (command: Command) => `${usageOf(command)}\n\n${command.summary}\n\n${codes}`

const codes = 'Exit codes: 0 done, 1 failed, 2 differs, 64 wrong call.\n'
