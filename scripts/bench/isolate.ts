/** Runs one Worker in its own workerd process, without wrangler's proxy in between. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Bundle } from './bundle.ts'

export type Isolate = { readonly port: number; readonly pid: number | undefined; readonly close: () => Promise<void> }

export type IsolateOptions = {
  readonly bundle: Bundle
  readonly variables?: Readonly<Record<string, string>>
  readonly json?: Readonly<Record<string, unknown>>
  readonly objects?: Readonly<Record<string, string>>
  /** PEM text of a certificate authority that TLS connections trust; none is trusted without. */
  readonly authority?: string
  /** Names of Worker Loader bindings. */
  readonly loaders?: readonly string[]
}

export type Prepared = { readonly start: () => Promise<Isolate>; readonly remove: () => Promise<void> }

/** Writes the configuration for workerd; each `start` creates a new process. */
export async function prepareIsolate(options: IsolateOptions): Promise<Prepared> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-workerd-'))
  await writeFile(join(folder, 'config.capnp'), configOf(options))
  for (const { name, text } of options.bundle.modules) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return {
    start: () => start(folder),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

// The process ends when its input closes, which also happens when this process is killed.
const tethered = 'exec 4<&0; (read _ <&4; kill -TERM $$) & exec "$0" "$@" </dev/null 4<&-'

async function start(folder: string): Promise<Isolate> {
  const workerd: string = createRequire(import.meta.url)('workerd').default
  const parameters = ['serve', 'config.capnp', '--control-fd=3', '--experimental']
  const child = spawn('sh', ['-c', tethered, workerd, ...parameters], {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const output: string[] = []
  child.stderr?.on('data', (chunk) => output.push(String(chunk)))
  const failed = exited.then(() => {
    throw new Error(`workerd ended early: ${output.join('').slice(0, 2_000)}`)
  })
  failed.catch(() => {})
  const port = await Promise.race([listeningPort(child.stdio[3] as Readable), failed])
  return {
    port,
    // The shell has become workerd.
    pid: child.pid,
    async close() {
      child.stdin?.end()
      await exited
    },
  }
}

async function listeningPort(control: Readable): Promise<number> {
  let text = ''
  for await (const chunk of control) {
    text += chunk
    const port = /"port":(\d+)/.exec(text)?.[1]
    if (port !== undefined) return Number(port)
  }
  return new Promise(() => {})
}

function configOf({
  bundle,
  variables = {},
  json = {},
  objects = {},
  loaders = [],
  authority,
}: IsolateOptions): string {
  const { modules, compatibility } = bundle
  const classes = Object.entries(objects)
  const bindings = [
    ...Object.entries(variables).map(([name, value]) => `(name = "${name}", text = ${JSON.stringify(value)})`),
    ...Object.entries(json).map(
      ([name, value]) => `(name = "${name}", json = ${JSON.stringify(JSON.stringify(value))})`,
    ),
    ...loaders.map((name) => `(name = "${name}", workerLoader = ())`),
    ...classes.map(([name, className]) => `(name = "${name}", durableObjectNamespace = "${className}")`),
  ]
  const namespaces = classes.map(([, name]) => `(className = "${name}", uniqueKey = "bench-${name}", enableSql = true)`)
  const trust = authority === undefined ? '' : `, tlsOptions = (trustedCertificates = [${JSON.stringify(authority)}])`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["public", "private"]${trust}))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${modules.map(({ name }) => `(name = "${name}", esModule = embed "${name}")`).join(', ')}],
  compatibilityDate = "${compatibility.date}",
  compatibilityFlags = [${compatibility.flags.map((flag) => `"${flag}"`).join(', ')}],
  bindings = [${bindings.join(', ')}],
  durableObjectNamespaces = [${namespaces.join(', ')}],
  durableObjectStorage = (inMemory = void),
);
`
}
