/** `npm start` and `npm run start:node` as a newcomer runs them: a terminal's process group, its output, its end. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SHORT_LIVED } from '../run/run-directory.ts'

export type LocalRun = {
  /** All that was printed, standard error included. */
  readonly output: () => string
  /** Where it serves; from the printed block. */
  readonly url: string
  /** The request of the printed curl line: its address, and the header with the key read from the file it names; or of another path with this key. */
  readonly curl: (path?: string) => Promise<Response>
  /** As Ctrl-C does, to all of the group; resolves when nobody holds its output any more. */
  readonly interrupt: () => Promise<void>
  /** Ends npm, and nothing else; resolves when nobody holds its output any more. */
  readonly endNpm: (signal: NodeJS.Signals) => Promise<void>
  /** Ends the one process that serves, without a chance to clean up. */
  readonly kill: () => Promise<void>
  /** The processes that belong to it and are alive. */
  readonly processes: () => readonly number[]
}

export type Refusal = { readonly code: number | null; readonly output: string }

const root = join(import.meta.dirname, '../../..')

/** Without it a start compiles the embedded database a second time, for speed, while it is closed again. */
const quickly = { NODE_OPTIONS: SHORT_LIVED }

/** As users start it. */
export const asShipped = { NODE_OPTIONS: '' }

/** Starts `npm run` of that script with nothing of the service in its environment but `variables`. Resolves with the printed block. */
export async function startLocalRun(script: string, variables: Readonly<Record<string, string>>): Promise<LocalRun> {
  const run = spawnScript(script, variables)
  await run.until(/curl .*\n/)
  const [, url = ''] = /Address +(\S+)/.exec(run.output()) ?? []
  return { ...run, url, curl: (path) => printedRequest(run.output(), path) }
}

/** Starts the script and kills it as soon as `file` exists. */
export async function killAtFile(script: string, variables: Readonly<Record<string, string>>, file: string) {
  const run = spawnScript(script, variables)
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5))
  await run.kill()
}

/** Starts the script, which is to end by itself. */
export async function startRefused(script: string, variables: Readonly<Record<string, string>>): Promise<Refusal> {
  const run = spawnScript(script, variables)
  return { code: await run.ended, output: run.output() }
}

/** Starts the script and sends `signal` to its group after so many milliseconds, or when it prints that it is ready. */
export async function signalWhile(
  script: string,
  variables: Readonly<Record<string, string>>,
  { signal, moment }: { readonly signal: NodeJS.Signals; readonly moment: number | 'ready' },
) {
  const run = spawnScript(script, variables)
  if (moment === 'ready') await run.until(/Administrator/)
  else await new Promise((resolve) => setTimeout(resolve, moment))
  run.signal(signal)
  await run.ended
  return { processes: run.processes, output: run.output() }
}

function spawnScript(script: string, variables: Readonly<Record<string, string>>) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE: compiled } = process.env
  const child = spawn('npm', ['run', '--silent', script], {
    cwd: root,
    env: {
      PATH,
      HOME,
      TMPDIR: tmpdir(),
      PORT: '0',
      ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
      ...quickly,
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let text = ''
  const append = (chunk: Buffer) => {
    text += chunk
  }
  child.stdout.on('data', append)
  child.stderr.on('data', append)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const pid = child.pid ?? 0

  return {
    ended,
    output: () => text,
    processes: () => processesOf(pid),
    async until(pattern: RegExp) {
      while (!pattern.test(text)) {
        if (child.exitCode !== null) throw new Error(`npm run ${script} ended: ${text}`)
        await Promise.race([once(child.stdout, 'data'), ended])
      }
    },
    signal(signal: NodeJS.Signals) {
      process.kill(-pid, signal)
    },
    async interrupt() {
      process.kill(-pid, 'SIGINT')
      await ended
    },
    async endNpm(signal: NodeJS.Signals) {
      process.kill(pid, signal)
      await ended
    },
    async kill() {
      const serving = processesOf(pid).find((id) => commandOf(id).some((part) => part.startsWith('scripts/start')))
      process.kill(serving ?? pid, 'SIGKILL')
      await ended
    },
  } satisfies Partial<LocalRun> & {
    ended: Promise<number | null>
    until: (pattern: RegExp) => Promise<void>
    signal: (signal: NodeJS.Signals) => void
  }
}

function printedRequest(output: string, path = ''): Promise<Response> {
  const [, file = '', url = ''] = /curl -g -H "Authorization: Bearer \$\(cat (\S+)\)" '(\S+)'/.exec(output) ?? []
  return fetch(path === '' ? url : new URL(path, url), {
    headers: { Authorization: `Bearer ${readFileSync(file, 'utf8')}` },
  })
}

/** All processes of the group; those that have ended and only wait to be noticed do not count. */
function processesOf(group: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      const [state, , processGroup] = (readProc(id, 'stat').split(') ').at(-1) ?? '').split(' ')
      return processGroup === String(group) && state !== 'Z'
    })
}

function commandOf(id: number): readonly string[] {
  return readProc(id, 'cmdline').split('\0')
}

function readProc(id: number, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
