/**
 * A new type or operator (src/core/model/vocabulary.ts), or provider of data sources (src/core/sql/address.ts, one over
 * TCP and one over HTTP): the compiler points at the files that have to know of it.
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectorOperator, operators, plainTypeNames } from '../src/core/model/vocabulary.ts'
import { sqlProviders } from '../src/core/sql/address.ts'

const root = join(import.meta.dirname, '..')
const VOCABULARY = 'src/core/model/vocabulary.ts'
const ADDRESS = 'src/core/sql/address.ts'
const sourceFolders = ['src', 'handlers', 'scripts', 'extensions']

const typeNames = ['string', 'decimal', ...plainTypeNames]
const newType = 'scratchType'
const newOperator = '_scratch_operator'
const newProvider = 'scratchProvider'

/** What a place has to name to be one that has to know them all. */
const namesTypes = ({ code }: Code) => typeNames.filter((name) => isNamed(name, code)).length >= 5
const namesOperators = ({ code }: Code) =>
  operators.filter((name) => isOperatorNamed(name, connectorOperator(name), code)).length >= 4
const namesProviders = ({ code }: Code) => sqlProviders.filter((name) => isNamed(name, code)).length >= 2

const files = await readSources()
const places = files.flatMap(placesOf)
const namingTypes = files.filter(namesTypes)
const namingOperators = files.filter(namesOperators)
const namingProviders = files.filter(namesProviders)

let copy = ''
let faults: readonly { readonly path: string; readonly line: number; readonly text: string }[] = []

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'new-names-'))
  await Promise.all(sourceFolders.map((folder) => cp(join(root, folder), join(copy, folder), { recursive: true })))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await writeFile(join(copy, VOCABULARY), await withNewNames())
  await writeFile(join(copy, ADDRESS), await withNewProvider())
  await writeFile(
    join(copy, 'tsconfig.json'),
    await projectOf([...namingTypes, ...namingOperators, ...namingProviders]),
  )
  faults = await compile()
})

afterAll(() => rm(copy, { recursive: true }))

it('finds a fault in every file and declaration that names types, operators or providers, but for those of CONTRIBUTING.md', async () => {
  const files = [
    ...withoutFault(namingTypes, newType),
    ...withoutFault(namingOperators, newOperator.slice(1)),
    ...withoutFault(namingProviders, newProvider),
  ]
  const declarations = [
    ...withoutFault(places.filter(namesTypes), newType),
    ...withoutFault(places.filter(namesOperators), newOperator.slice(1)),
    ...withoutFault(places.filter(namesProviders), newProvider),
  ]
  const silent = [...files, ...declarations.filter(({ path }) => !files.some((file) => file.path === path))]

  expect(faults.length).toBeGreaterThan(0)
  expect([...new Set(silent.map(({ name }) => name))].sort()).toEqual(await excused())
})

type Code = { readonly code: string }

/** A file, or some of its lines; `name` is its path, with `#` and what is declared there for the latter. */
type Source = Code & {
  readonly path: string
  readonly name: string
  readonly lines: readonly [first: number, last: number]
}

/** Each declaration of a file: its lines up to the next one that begins like a declaration. */
function placesOf({ path, code }: Source): readonly Source[] {
  let next = 1
  return code.split(/\n(?=(?:export )?(?:async )?(?:const|function|type|class) )/).map((text) => {
    const first = next
    next += text.split('\n').length
    const declared = /(?:const|function|type|class) (\w+)/.exec(text)?.[1] ?? first
    return { path, name: `${path}#${declared}`, code: text, lines: [first, next - 1] }
  })
}

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
      const code = text.replace(/^[^\S\n]*(\/?\*|\/\/).*$/gm, '')
      return { path, name: path, code, lines: [1, code.split('\n').length] }
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

async function withNewProvider(): Promise<string> {
  const text = await readFile(join(root, ADDRESS), 'utf8')
  const [tcp, http] = [newProvider, `${newProvider}OverHttp`]
  return text
    .replace('sqlProviders = [', `sqlProviders = ['${tcp}', '${http}', `)
    .replace(
      'protocols = {',
      `protocols = { ${tcp}: { family: 'mysql', transport: 'tcp' }, ${http}: { family: 'postgres', transport: 'http' },`,
    )
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
    const [, path, line] = /^([^(\n]+)\((\d+),\d+\): error /.exec(text) ?? []
    return path === undefined ? [] : [{ path, line: Number(line), text }]
  })
}

function withoutFault(sources: readonly Source[], newName: string): readonly Source[] {
  return sources.filter(
    ({ path, lines: [first, last] }) =>
      !faults.some(
        ({ path: at, line, text }) => at === path && first <= line && line <= last && text.includes(newName),
      ),
  )
}

/** The files and declarations in the first column of the table in CONTRIBUTING.md, each with a reason beside it. */
async function excused(): Promise<readonly string[]> {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const section = text.split('\n## ').find((part) => part.startsWith('Files the compiler does not point at\n')) ?? ''
  const rows = [...section.matchAll(/^\| (`.+`) \| \S.+ \|$/gm)]
  return rows.flatMap(([, paths = '']) => [...paths.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)).sort()
}
