/**
 * The real command line, as it is packed, in a folder of its own: `governed(['types'])` is a process whose output and
 * exit code come back. It has no terminal, unless one is asked for.
 */
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { copyPrepared } from '../run/prepared.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

export type Ended = {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** What stdout holds, as JSON. */
  readonly json: unknown
}

export type Given = {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** A folder below the project's, to run in. */
  readonly below?: string
  /** What is typed on a terminal, one answer to each question. */
  readonly typed?: readonly string[]
  /** Is called with each part of stderr as it comes. */
  readonly onProgress?: (text: string) => unknown
}

export type CommandLine = {
  /** Where it runs; empty at first. */
  readonly folder: string
  /** Where it keeps what is the user's. */
  readonly home: string
  governed(words: readonly string[], given?: Given): Promise<Ended>
  close(): Promise<void>
}

export async function openCommandLine(): Promise<CommandLine> {
  const directory = await mkdtemp(join(tmpdir(), 'governed-'))
  const installed = join(directory, 'installed')
  await copyPrepared('command-line', installed, build)
  const [folder, home] = [join(directory, 'project'), join(directory, 'home')]
  await mkdir(folder)
  const main = join(installed, 'node_modules/governed-data-cli/dist/main.js')
  return {
    folder,
    home,
    governed: (words, { env = {}, stdin, below = '', typed, onProgress } = {}) =>
      new Promise((resolve, reject) => {
        const terminal = typed === undefined ? [] : ['--import', join(installed, 'terminal.js')]
        const child = spawn(process.execPath, [...terminal, main, ...words], {
          cwd: join(folder, below),
          env: { PATH: process.env.PATH, HOME: directory, GOVERNED_HOME: home, NODE_OPTIONS: '', ...env },
          stdio: ['pipe', 'pipe', 'pipe'],
        })
        let [stdout, stderr] = ['', '']
        const answers = [...(typed ?? [])]
        child.stdout.on('data', (part) => {
          stdout += part
        })
        child.stderr.on('data', (part) => {
          stderr += part
          onProgress?.(String(part))
          if (answers.length > 0 && isQuestion(String(part))) child.stdin.write(`${answers.shift()}\n`)
        })
        child.on('error', reject)
        child.on('close', (code) =>
          resolve({
            code,
            stdout,
            stderr,
            json: stdout.startsWith('{') ? JSON.parse(stdout) : undefined,
          }),
        )
        // It may have ended without reading.
        child.stdin.on('error', () => {})
        if (typed === undefined) child.stdin.end(stdin ?? '')
      }),
    close: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Behind a question only the cursor is moved. */
function isQuestion(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is how terminals are told
  return /: (?:\x1b\[\d*[A-Z])*$/.test(text)
}

/** As `npm install` lays it out; types are checked elsewhere. */
async function build(directory: string): Promise<void> {
  const modules = join(directory, 'node_modules')
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  for (const [folder, project] of [
    ['client', 'tsconfig.json'],
    ['cli', 'tsconfig.build.json'],
  ] as const) {
    const target = join(modules, `governed-data-${folder}`)
    await mkdir(target, { recursive: true })
    await cp(join(root, 'packages', folder, 'package.json'), join(target, 'package.json'))
    const config = join(root, 'packages', folder, project)
    await run(process.execPath, [
      compiler,
      '-p',
      config,
      '--noCheck',
      '--declaration',
      'false',
      '--outDir',
      join(target, 'dist'),
    ])
  }
  await writeFile(join(directory, 'terminal.js'), terminal)
}

/** Streams that say that they are a terminal's; what is typed is not shown, as in raw mode. */
const terminal = `
for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true
process.stdin.setRawMode = () => process.stdin
`
