/**
 * Builds the parts of the Worker that load apart (decision 055): one module for each file of
 * src/platform/cloudflare/parts that lazy-drivers.ts imports, beside that file, where wrangler finds it. Of the packages
 * of databases only what a Worker uses gets in. Runs before every build of the Worker.
 */
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

const directory = join(import.meta.dirname, '../src/platform/cloudflare/parts')
const packages = join(import.meta.dirname, '../node_modules')

export const workerParts = ['neon', 'postgres', 'mysql', 'planetscale']

export async function writeWorkerParts(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: workerParts.map((part) => join(directory, `${part}.ts`)),
    bundle: true,
    minify: true,
    write: false,
    outdir: directory,
    format: 'esm',
    platform: 'node',
    target: 'es2024',
    conditions: ['workerd'],
    external: ['cloudflare:*'],
    plugins: [withoutUnused],
    legalComments: 'none',
    logLevel: 'error',
  })
  // Other runs on this machine may be reading them.
  const folder = await mkdtemp(join(directory, '.made-'))
  for (const [index, { contents }] of outputFiles.entries()) {
    await writeFile(join(folder, `${index}`), contents)
    await rename(join(folder, `${index}`), join(directory, `${workerParts[index]}.js`))
  }
  await rm(folder, { recursive: true })
}

/** Instead of a package or one of its files: a module of this text. */
const instead: Readonly<Record<string, string>> = {
  // The client without pool, native bindings and connection strings; TcpSocket stands in for pg-cloudflare.
  pg: `import Client from 'pg/lib/client.js'
    import Query from 'pg/lib/query.js'
    import { DatabaseError } from 'pg-protocol'
    export default { Client, Query, DatabaseError }`,
  'pg-types': 'module.exports = { getTypeParser: () => String, setTypeParser() {}, builtins: {} }',
  'pg-connection-string': 'module.exports = {}',
  'pg-cloudflare': 'module.exports = {}',
  pgpass: 'module.exports = (_, done) => done()',
  // The connection without pools, and without the names of errors, which have numbers.
  'mysql2/promise': `import createCore from '${packages}/mysql2/lib/create_connection.js'
    import Connection from '${packages}/mysql2/lib/promise/connection.js'
    export const createConnection = (options) => new Promise((resolve, reject) => {
      const core = createCore(options)
      core.once('connect', () => resolve(new Connection(core)))
      core.once('error', reject)
    })`,
  '../constants/errors.js': 'module.exports = {}',
  // What only a server or a replica sends.
  './server_handshake.js': 'module.exports = class {}',
  './binlog_dump.js': 'module.exports = class {}',
  './binlog_dump': 'module.exports = class {}',
  './register_slave.js': 'module.exports = class {}',
  './register_slave': 'module.exports = class {}',
  '../compressed_protocol.js': 'module.exports = {}',
  './constants/ssl_profiles.js': 'module.exports = {}',
  // Rows are parsed without code made of text, and texts are UTF-8 or another encoding of Buffer.
  '../parsers/binary_parser.js': 'module.exports = undefined',
  '../parsers/text_parser.js': 'module.exports = undefined',
  'named-placeholders': 'module.exports = () => { throw new Error("placeholders have no names") }',
  // Sessions speak utf8mb4, so what else there is are names of the server in its utf8mb3, which is UTF-8 without emoji.
  'iconv-lite': `const checked = (encoding, made) => {
      if (encoding !== 'cesu8') throw new Error('unknown encoding ' + encoding)
      return made
    }
    exports.getDecoder = (encoding) =>
      checked(encoding, { write: (bytes) => bytes.toString('utf8'), end: () => '' })
    exports.getEncoder = (encoding) =>
      checked(encoding, { write: (text) => Buffer.from(text, 'utf8'), end: () => undefined })`,
  // TLS is the socket's own.
  tls: `export const createSecureContext = () => ({})
    export const checkServerIdentity = () => undefined
    export const connect = ({ socket }, done) => {
      socket.once('secureConnect', done)
      socket.isSessionReused = () => true
      socket.startTls()
      return socket
    }`,
}

const withoutUnused: Plugin = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, importer, kind }) => {
      if (path in instead && importer !== '') return { path, namespace: 'instead' }
      if (!isBuiltin(path)) return undefined
      const name = path.startsWith('node:') ? path : `node:${path}`
      return kind === 'require-call' ? { path: name, namespace: 'required' } : { path: name, external: true }
    })
    onLoad({ filter: /./, namespace: 'instead' }, ({ path }) => ({
      contents: instead[path] ?? '',
      resolveDir: packages,
    }))
    // A module of a Worker has no \`require\`.
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `import whole from '${path}'; module.exports = whole`,
    }))
  },
}

if (import.meta.main) {
  await writeWorkerParts()
  for (const name of (await readdir(directory)).filter((file) => file.endsWith('.js'))) console.log(name)
}
