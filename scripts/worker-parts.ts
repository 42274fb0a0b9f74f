/**
 * Builds the parts of the Worker that load apart (decision 055): one module for each file of
 * src/platform/cloudflare/parts that lazy-drivers.ts imports. Of the packages of databases only what a Worker uses gets
 * in.
 */
import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build, type Plugin, transform } from 'esbuild'

const root = join(import.meta.dirname, '..')
const packages = join(root, 'node_modules')

export const workerParts = ['neon', 'postgres', 'mysql', 'planetscale']

/** Writes them into the directory; returns the files that they were made of, relative to the repository. */
export async function writeWorkerParts(directory: string): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: workerParts.map((part) => `src/platform/cloudflare/parts/${part}.ts`),
    bundle: true,
    minify: true,
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
  return Object.keys(metafile.inputs)
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
    onLoad({ filter: /@neondatabase\/serverless\/index\.mjs$/ }, async ({ path }) => ({
      contents: markAsPure((await transform(await readFile(path, 'utf8'))).code),
    }))
  },
}

/**
 * Neon's package is one file, bundled by esbuild from a driver over HTTP and one over WebSockets. Returns its text with
 * the declarations of its modules marked as free of side effects, so that esbuild drops those that HTTP does not need.
 * `text` has every top-level declaration at the start of a line.
 */
function markAsPure(text: string): string {
  const pure = '/* @__PURE__ */'
  return (
    text
      // Modules, and what is imported of them.
      .replace(/^(var (?:\w+, )*\w+ =) (\w+\(\(.*=> \{)$/gm, `$1 ${pure} $2`)
      .replace(/^(var \w+ =) (\w+\()(\w+\(\)\);)$/gm, `$1 ${pure} $2${pure} $3`)
      // Properties of what is imported, and classes that extend it.
      .replace(/^(var \w+ =) (\w+\.\w+|class \w+ extends \w+\.\w+ \{\n[\s\S]*?\n\});$/gm, `$1 ${pure} (() => $2)();`)
      // The names that its own build keeps of functions.
      .replace(/^\w+\(\s*\w+,\s*"\w+"\s*\);$/gm, '')
      // Its Buffer for platforms that have none.
      .replace(/\w+\(\)\.Buffer\b/, 'globalThis.Buffer')
  )
}
