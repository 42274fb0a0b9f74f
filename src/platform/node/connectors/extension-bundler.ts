/**
 * Bundles the entry of an extension with its imports into one module that both sandboxes can run: Node modules are
 * imported dynamically at the top, no static import remains, and all exports are in one list at the end.
 */
import { realpath } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join, relative, sep } from 'node:path'
import type { Message, Plugin } from 'esbuild'
import { factoryOf } from '../../connectors/factory.ts'
import { type Bundle, keptBundle } from './kept-bundle.ts'

export type Bundling =
  | { readonly kind: 'bundled'; readonly code: string }
  /** `place` is a file in the folder, with line and column if known. */
  | { readonly kind: 'failed'; readonly place: string; readonly reason: string }

/** `entry` is relative to `folder` and must be inside it. */
export async function bundleExtension(folder: string, entry: string): Promise<Bundling> {
  const file = await inside(folder, entry)
  if (file === undefined) return failed(entry, 'is not a file of this extension')
  try {
    const code = await keptBundle(folder, entry, () => bundle(folder, file))
    const factory = factoryOf(code)
    if ('fault' in factory) return failed(entry, factory.fault)
    if (code.length > LONGEST_CODE) return failed(entry, `is larger than ${LONGEST_CODE / 1024 ** 2} MiB when bundled`)
    return { kind: 'bundled', code }
  } catch (error) {
    return describe(error, entry)
  }
}

async function bundle(folder: string, file: string): Promise<Bundle> {
  const builtins = new Set<string>()
  // Loaded late: esbuild is large, and unneeded without extensions.
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    entryPoints: [file],
    absWorkingDir: folder,
    alias: { 'governed-data-service/connector-kit': KIT },
    bundle: true,
    charset: 'utf8',
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['worker'],
    target: 'es2022',
    logLevel: 'silent',
    metafile: true,
    plugins: [importBuiltins(builtins)],
    write: false,
  })
  return {
    code: preamble(builtins) + (outputFiles[0]?.text ?? ''),
    inputs: Object.keys(metafile.inputs).filter((input) => !input.startsWith('builtin:')),
  }
}

const KIT = join(import.meta.dirname, '../../../connector-kit/kit.ts')

const LONGEST_CODE = 4 * 1024 ** 2

/** Both platforms have the Node modules, but Workers do not allow static imports where this code runs. */
function importBuiltins(found: Set<string>): Plugin {
  return {
    name: 'builtins',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (isBuiltin(path)) return { path: path.replace(/^(node:)?/, 'node:'), namespace: 'builtin' }
        if (kind === 'dynamic-import' || !/^[a-z]+:/.test(path)) return undefined
        return { errors: [{ text: `${path} cannot be imported: only files, packages and modules of Node` }] }
      })
      onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => {
        found.add(path)
        const name = JSON.stringify(path)
        return { contents: `module.exports = $builtins[${name}].default ?? $builtins[${name}]`, loader: 'js' }
      })
    },
  }
}

function preamble(builtins: ReadonlySet<string>): string {
  if (builtins.size === 0) return ''
  const members = [...builtins].map((path) => `${JSON.stringify(path)}: await import(${JSON.stringify(path)})`)
  return `const $builtins = { ${members.join(', ')} };\n`
}

async function inside(folder: string, entry: string): Promise<string | undefined> {
  const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, entry))]).catch(() => [])
  return root !== undefined && file?.startsWith(root + sep) ? file : undefined
}

function describe(error: unknown, entry: string): Bundling {
  const [first]: readonly Message[] = isBuildFailure(error) ? error.errors : []
  if (first === undefined) return failed(entry, 'cannot be bundled')
  const { text, location } = first
  if (location === null) return failed(entry, text)
  return failed(`./${relative('.', location.file)}:${location.line}:${location.column + 1}`, text)
}

function isBuildFailure(error: unknown): error is { readonly errors: readonly Message[] } {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}

function failed(place: string, reason: string): Bundling {
  return { kind: 'failed', place, reason }
}
