/** The types of the client (packages/client) on TypeScript 5 and 7: what compiles, what does not, what it costs, what editors offer. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cyclicProgram } from '../client-types/cyclic-program.ts'
import { effort } from '../support/run/effort.ts'

const run = promisify(execFile)
const MINUTES = 5 * 60_000

const compilers = [
  ['7', 'node_modules/typescript/bin/tsc'],
  ...(effort() === 'full' ? ([['5', 'test/openapi-types/node_modules/typescript/bin/tsc']] as const) : []),
] as const

describe.each(compilers)('TypeScript %s', (version, compiler) => {
  const compile = (...parameters: string[]) =>
    run(process.execPath, [compiler, '--pretty', 'false', ...parameters], { maxBuffer: 64e6 }).catch(
      ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ stdout, stderr }),
    )

  it('is of this version', async () => {
    expect((await compile('--version')).stdout).toContain(`Version ${version}.`)
  })

  it(
    'takes what is right, with the exact type named, and refuses what is wrong where it is wrong',
    async () => {
      const faults = faultsOf((await compile('-p', 'test/client-types')).stdout)
      const cases = casesOf('test/client-types/refused.ts')
      const named = readFileSync('test/client-types/accepted.ts', 'utf8').match(/^(exact<|if .*exact<)/gm) ?? []

      expect(faults.filter(({ file }) => !file.endsWith('refused.ts'))).toEqual([])
      expect(named.length).toBeGreaterThanOrEqual(60)
      expect(cases.length).toBeGreaterThanOrEqual(60)
      expect(
        cases.filter(
          ({ from, to, part }) =>
            !faults.some(({ line, message }) => line >= from && line <= to && message.includes(part)),
        ),
      ).toEqual([])
    },
    MINUTES,
  )

  it(
    'compiles 200 queries of four levels over 1,000 collections that lead into each other, with little work',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'cyclic-'))
      const files = cyclicProgram(join(import.meta.dirname, '../../packages/client/src/collection.ts'))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)

      const { stdout } = await compile('-p', folder, '--extendedDiagnostics')
      rmSync(folder, { recursive: true })

      const amount = (label: string) => Number(new RegExp(`^${label}:\\s+(\\d+)`, 'm').exec(stdout)?.[1])
      expect(stdout).not.toContain('error TS')
      // Promised are two seconds on two cores, and how fast a machine is says nothing of the types: these are their amounts (decision 073).
      expect(amount('Instantiations')).toBeLessThan(350_000)
      expect(amount('Types')).toBeLessThan(70_000)
    },
    MINUTES,
  )
})

it(
  'offers the fields, relations and operators in an editor',
  async () => {
    const { stdout } = await run(process.execPath, ['test/client-types/complete.ts'])

    expect(JSON.parse(stdout)).toEqual({
      'a field': ['*', '_etag', 'authorId', 'details', 'id', 'isOpen', 'price', 'rating', 'status', 'title', 'words'],
      'a relation': ['author', 'comments', 'tags'],
      'a field of a relation': ['*', '_etag', 'born', 'id', 'name'],
      'a field two relations away': ['*', '_etag', 'authorId', 'isPublic'],
      'a field of a query of a relation': ['*', '_etag', 'articleId', 'id', 'text'],
      'what a relation is asked': ['after', 'aggregate', 'fields', 'filter', 'limit', 'meta', 'offset', 'sort'],
      'what a filter names': expect.arrayContaining(['_and', '_not', '_or', 'author', 'comments', 'title']),
      'an operator': expect.arrayContaining(['_contains', '_eq', '_in']),
      'a value of a filter': ['draft', 'published'],
      'what a sort names': expect.arrayContaining(['author', 'title']),
      'a direction': expect.arrayContaining(['asc', 'desc']),
      'what a collection does': ['aggregate', 'create', 'delete', 'each', 'get', 'list', 'pages', 'update', 'upsert'],
      'a collection': expect.arrayContaining(['$auth', '$batch', '$request', 'articles', 'lines']),
      'what is created': expect.arrayContaining(['author', 'authorId', 'comments', 'title']),
    })
  },
  MINUTES,
)

type Fault = { readonly file: string; readonly line: number; readonly message: string }

/** What a compiler prints, a fault with the indented lines below it. */
function faultsOf(output: string): readonly Fault[] {
  return output.split(/\n(?=\S)/).flatMap((text): Fault[] => {
    const [, file, line] = /^(.+?)\((\d+),\d+\): error /.exec(text) ?? []
    return file === undefined ? [] : [{ file, line: Number(line), message: text.slice(file.length) }]
  })
}

/** Each begins with a comment that has a part of the message: the lines, counted from 1, up to the next one. */
function casesOf(path: string): readonly { readonly from: number; readonly to: number; readonly part: string }[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  const starts = lines.flatMap((line, index) => (line.startsWith('//= ') ? [index] : []))
  return starts.map((start, index) => ({
    from: start + 2,
    to: starts[index + 1] ?? lines.length,
    part: lines[start]?.slice(4) ?? '',
  }))
}
