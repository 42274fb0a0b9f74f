/** docs/command-line.md: what is written by the command line holds nothing that a terminal would obey, with --json neither. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CommandLine, openCommandLine } from '../support/service/command-line.ts'

let line: CommandLine

beforeAll(async () => {
  line = await openCommandLine()
})

afterAll(() => line?.close())

/** A word that no command has: what is answered repeats it. */
const codes = [
  ...Array.from({ length: 0x20 }, (_, code) => code + 1),
  ...Array.from({ length: 0x21 }, (_, code) => code + 0x7f),
  ...[0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
]
const word = `a${String.fromCharCode(...codes)}ö\u{1f600}`
const obeyed = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u

it('writes JSON whose every character a terminal shows, of the same value', async () => {
  const { stdout } = await line.governed([word, '--json'])

  expect(stdout).not.toMatch(obeyed)
  expect(stdout).toContain(`\\u009b`)
  expect(stdout).toContain(`ö\u{1f600}`)
  expect((JSON.parse(stdout) as { message: string }).message).toContain(word)
})

it('leaves it out elsewhere', async () => {
  const { stderr } = await line.governed([word])

  expect(stderr.replaceAll(/[\t\n]/g, '')).not.toMatch(obeyed)
})
