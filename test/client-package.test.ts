/** What the packages are made of (decision 073): nothing but themselves, and in few bytes. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import { expect, it } from 'vitest'

const folder = 'packages/client'
const sources = readdirSync(join(folder, 'src')).map((name) => join(folder, 'src', name))
const { dependencies, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Source files by what the package calls them. */
const entries = Object.values(exports as Record<string, string>).map((file) =>
  join(folder, file.replace('dist', 'src').replace(/\.js$/, '.ts')),
)

it('the client fits into 5 KiB, bundled, minified and compressed', () => {
  const { outputFiles } = buildSync({
    entryPoints: [join(folder, 'src/index.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
  })

  expect(gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length).toBeLessThanOrEqual(5 * 1024)
})

it('the client has no dependency and imports nothing but its own files', () => {
  const outside = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)]
      .map(([, target = '']) => target)
      .filter((target) => !sources.includes(join(dirname(file), target))),
  )

  expect(dependencies).toBeUndefined()
  expect(outside).toEqual([])
})

it('the client has an entry for every name that it exports', () => {
  expect(entries.filter((file) => !sources.includes(file))).toEqual([])
})
