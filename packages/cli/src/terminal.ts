/**
 * What is said and asked on stderr while a command runs; results go to stdout, by `run.ts` alone. Without a terminal
 * there is neither colour nor question: what would be asked is an error that names the flag.
 */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { Failure, wrongCall } from './failure.ts'
import type { Host } from './host.ts'

export type Prompt = {
  readonly text: string
  /** What answers it without a terminal, such as `--yes`. */
  readonly flag: string
  /** Whether the answer is not to be seen. */
  readonly kind?: 'open' | 'hidden'
}

export type Terminal = {
  readonly isInteractive: boolean
  say(text: string): void
  /** What long work is at; on a terminal in one line, which the next text takes. */
  progress(text: string): void
  /** Before a result is written: takes the line of `progress` away. */
  clear(): void
  ask(question: Prompt): Promise<string>
  /** Whether the answer is yes. */
  confirm(question: Prompt): Promise<boolean>
  /** All of stdin. */
  read(): Promise<string>
  paint(style: Style, text: string): string
}

type Style = keyof typeof styles

const styles = { red: 31, green: 32, yellow: 33, dim: 2 } as const

export function createTerminal(host: Host, { isQuiet }: { readonly isQuiet: boolean }): Terminal {
  const { stdin, stderr, env } = host
  const isTerminal = stderr.isTTY === true && env.TERM !== 'dumb'
  const isInteractive = stdin.isTTY === true && stderr.isTTY === true && !isQuiet
  const isColoured = isTerminal && !env.NO_COLOR
  let isLineOpen = false

  const write = (text: string) => stderr.write(text)
  const endLine = () => {
    if (isLineOpen) write('\r\x1b[2K')
    isLineOpen = false
  }
  const ask = async ({ text, flag, kind = 'open' }: Prompt) => {
    if (!isInteractive) throw wrongCall(`${text}: there is no terminal to ask`, `say ${flag}`)
    endLine()
    const shown = printable(text)
    if (kind === 'open') return answered(`${shown}: `, { input: stdin, output: stderr })
    write(`${shown}: `)
    const answer = await answered('', { input: stdin, output: nowhere() })
    write('\n')
    return answer
  }

  return {
    isInteractive,
    say(text) {
      endLine()
      write(`${printable(text)}\n`)
    },
    progress(text) {
      if (!isTerminal) {
        write(`${printable(text)}\n`)
        return
      }
      endLine()
      write(printable(text))
      isLineOpen = true
    },
    clear: endLine,
    ask,
    async confirm(question) {
      const answer = await ask({ ...question, text: `${question.text} [y/N]` })
      return /^y(es)?$/i.test(answer.trim())
    },
    async read() {
      const parts: Buffer[] = []
      for await (const part of stdin) parts.push(Buffer.from(part))
      return Buffer.concat(parts).toString('utf8')
    },
    paint: (style, text) => (isColoured ? `\x1b[${styles[style]}m${text}\x1b[0m` : text),
  }
}

/**
 * Without what moves the cursor, changes the terminal or turns the direction of a text: names and messages come from elsewhere.
 * Colours are ours.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (found) => (found.length > 1 ? found : ''))
}

/** JSON of the same value, in which what `printable` leaves out is written as an escape. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(UNPRINTABLE, (found) => `\\u${hex(found)}`)
}

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0')

const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  /\x1b\[(?:0|2|31|32|33)m|[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

async function answered(prompt: string, streams: { readonly input: Host['stdin']; readonly output: Writable }) {
  const lines = createInterface({ ...streams, terminal: true })
  const closed = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Failure('Cancelled')))
  })
  try {
    return await Promise.race([lines.question(prompt), closed])
  } catch {
    throw new Failure('Cancelled')
  } finally {
    lines.close()
  }
}

const nowhere = () => new Writable({ write: (_, __, done) => done() })
