/** A new type or operator (src/core/model/vocabulary.ts): the compiler points at the files that have to know of it. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectorOperator, operators, plainTypeNames } from '../src/core/model/vocabulary.ts'

const root = join(import.meta.dirname, '..')
const VOCABULARY = 'src/core/model/vocabulary.ts'
const sourceFolders = ['src', 'handlers', 'scripts', 'extensions']

const typeNames = ['string', 'decimal', ...plainTypeNames]
const newType = 'scratchType'
const newOperator = '_scratch_operator'

const files = await readSources()
const namingTypes = files.filter(({ code }) => typeNames.filter((name) => isNamed(name, code)).length >= 5)
const namingOperators = files.filter(
  ({ code }) => operators.filter((name) => isOperatorNamed(name, connectorOperator(name), code)).length >= 4,
)

let copy = ''
let faults: readonly { readonly path: string; readonly text: string }[] = []

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'new-names-'))
  await Promise.all(sourceFolders.map((folder) => cp(join(root, folder), join(copy, folder), { recursive: true })))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await writeFile(join(copy, VOCABULARY), await withNewNames())
  await writeFile(join(copy, 'tsconfig.json'), await projectOf([...namingTypes, ...namingOperators]))
  faults = await compile()
})

afterAll(() => rm(copy, { recursive: true }))

it('finds a fault in every file that names types or operators, but for those of CONTRIBUTING.md', async () => {
  const silent = [...withoutFault(namingTypes, newType), ...withoutFault(namingOperators, newOperator.slice(1))]

  expect(faults.length).toBeGreaterThan(0)
  expect([...new Set(silent)].sort()).toEqual(await excused())
})

type Source = { readonly path: string; readonly code: string }

/** Without comments, which nothing depends on. */
async function readSources(): Promise<readonly Source[]> {
  const paths = await Promise.all(
    sourceFolders.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true }))
        .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
        .map((path) => join(folder, path)),
    ),
  )
  return Promise.all(
    paths.flat().map(async (path) => {
      const text = await readFile(join(root, path), 'utf8')
      return { path, code: text.replace(/^\s*(\/?\*|\/\/).*$/gm, '') }
    }),
  )
}

/** As a literal or as the key of a record. */
function isNamed(name: string, code: string): boolean {
  return new RegExp(`(['"\`])${name}\\1|(?<![\\w.$])${name}:`).test(code)
}

/** As the item API writes it, wherever, or as connectors do. */
function isOperatorNamed(name: string, connectorName: string, code: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(code) || isNamed(connectorName, code)
}

async function withNewNames(): Promise<string> {
  const text = await readFile(join(root, VOCABULARY), 'utf8')
  return text
    .replace('plainTypeNames = [', `plainTypeNames = ['${newType}',`)
    .replace('operators = [', `operators = ['${newOperator}',`)
}

async function projectOf(sources: readonly Source[]): Promise<string> {
  const { compilerOptions } = JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8')) as {
    readonly compilerOptions: object
  }
  return JSON.stringify({
    compilerOptions: { ...compilerOptions, types: ['node'], noErrorTruncation: true },
    files: sources.map(({ path }) => path),
  })
}

/** What the compiler says, file by file. A message goes on in lines that begin with a blank. */
async function compile(): Promise<typeof faults> {
  const output = await new Promise<string>((resolve) => {
    const compiler = join(root, 'node_modules/.bin/tsc')
    execFile(compiler, ['--pretty', 'false', '--singleThreaded'], { cwd: copy }, (_error, text) => resolve(text))
  })
  return output.split(/\n(?=\S)/).flatMap((text) => {
    const path = /^([^(\n]+)\(\d+,\d+\): error /.exec(text)?.[1]
    return path === undefined ? [] : [{ path, text }]
  })
}

function withoutFault(sources: readonly Source[], name: string): readonly string[] {
  return sources
    .map(({ path }) => path)
    .filter((path) => !faults.some((fault) => fault.path === path && fault.text.includes(name)))
}

/** The files in the first column of the table in CONTRIBUTING.md, each with a reason beside it. */
async function excused(): Promise<readonly string[]> {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const section = text.split('\n## ').find((part) => part.startsWith('Files the compiler does not point at\n')) ?? ''
  const rows = [...section.matchAll(/^\| (`.+`) \| \S.+ \|$/gm)]
  return rows.flatMap(([, paths = '']) => [...paths.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)).sort()
}
