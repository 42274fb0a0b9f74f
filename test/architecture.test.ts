/** The law of the house (docs/architecture.md): who may import whom, no circles, no crowded folders, and a pure core. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

/** First match wins: whose files, what they may import. */
const rooms: readonly (readonly [RegExp, RegExp])[] = [
  [/^src\/core\//, /^(src\/core\/|zod$)/],
  [/^src\/ports\//, /^src\/(core|ports)\//],
  [/^src\/config/, /^(src\/(core\/|config-values)|zod$)/],
  [/^src\/connector-kit\/harness\./, /^src\//],
  [
    /^src\/connector-kit\//,
    /^src\/(connector-kit\/|core\/connector\/(error-code|value)|core\/model\/vocabulary|core\/query\/(json-test|text-order))/,
  ],
  [/^src\/(sources|store)\//, /^(src\/(core|sources|store|ports)|quick-lru$)/],
  [
    /^src\/services\//,
    /^(src\/(core|sources|store|services|ports|config)|jose$|oauth4webapi$|quick-lru$|file-type$|node:crypto$)/,
  ],
  [/^src\/platform\//, /^(?!src\/|handlers\/)|^src\/(core|platform|ports|config)/],
  [/^handlers\/(worker|node)\./, /./],
  [/^handlers\/http\//, /^(handlers\/http\/|src\/(core|services|ports|config)|hono|zod$)/],
  [/^handlers\//, /^(handlers\/(?!worker|node)|src\/(core|services|ports|config)|hono|zod$|@modelcontext)/],
]

/** Each of them costs every start of the Worker; others wait behind an `import()`. */
const packagesOfStart = ['cloudflare:workers', 'hono', 'jose', 'node:async_hooks', 'node:buffer', 'quick-lru', 'zod']

/** Rooms of the core, each may only import those before it and itself. */
const coreOrder = [
  'error',
  'assets',
  'model',
  'query',
  'access',
  'plan',
  'sql',
  'migration',
  'file',
  'connector',
  'license',
  'audit',
  'assistant',
  'manifest',
  'openapi',
]

/** Rooms of the use cases; the same holds for them. */
const servicesOrder = [
  'caller',
  'license',
  'model',
  'rights',
  'accounts',
  'data',
  'assets',
  'documents',
  'assistant',
  'instance',
]

/** Folders of many files of one kind: a route family each, an aggregate each. */
const uniformFolders = ['handlers/routes', 'src/store', 'src/store/schema']

const impure = /\b(async |await |Date\.now|new Date\(\)|Math\.random|randomUUID|fetch\(|process\.|console\.)/g

const texts = new Map<string, string>()
const service = sourceFiles(['src', 'handlers'])
const importsByFile = new Map(service.map((file) => [file, readImports(file)]))

it('every file stays in its room', () => {
  const strays = faults(service, (file) => {
    const allowed = rooms.find(([whose]) => whose.test(file))?.[1]
    return importsOf(file).filter((target) => allowed === undefined || !allowed.test(target))
  })
  const forward = faults(service, (file) => importsBeyond(file, 'src/core', coreOrder))
  const upward = faults(service, (file) => importsBeyond(file, 'src/services', servicesOrder))

  expect({ strays, forward, upward }).toEqual({ strays: [], forward: [], upward: [] })
})

it('has every use case in a room', () => {
  const homeless = sourceFiles(['src/services']).filter((file) => room(file, 'src/services', servicesOrder) === -1)

  expect(homeless).toEqual([])
})

it('use cases and routes write no SQL', () => {
  const sql =
    /\bsql`|['"`]\s*(select|insert into|delete from|update \S+ set|(create|alter|drop) (table|schema|index))\s/g
  const found = faults(sourceFiles(['src/services', 'handlers']), (file) => [
    ...importsOf(file).filter((target) => target === 'src/store/statements.ts'),
    ...(withoutComments(file).match(sql) ?? []),
  ])

  expect(found).toEqual([])
})

it('use cases give their factories one parameter, their deps', () => {
  const odd = oddFactories(
    sourceFiles(['src/services']),
    ({ name, parameters }) => parameters !== '' && parameters !== `deps: ${name}Deps`,
  )

  expect(odd).toEqual([])
})

it('sources, the store and handlers give their factories one parameter, deps', () => {
  const odd = oddFactories(
    sourceFiles(['src/sources', 'src/store', 'handlers']),
    ({ parameters }) => !/^(deps: \w+Deps( = \{\})?)?$/.test(parameters),
  )

  expect(odd).toEqual([])
})

it('platforms give their factories one parameter', () => {
  const odd = oddFactories(sourceFiles(['src/platform']), ({ parameters }) =>
    /,./s.test(parameters.replace(/\{[^}]*\}/g, '')),
  )

  expect(odd).toEqual([])
})

it('every file calls what a factory works with `deps`', () => {
  expect(oddFactories(service, ({ parameters }) => /(?<!\bdeps): \w*Deps\b/.test(parameters))).toEqual([])
})

/** First match wins: folders of the console, what they may import. The packages are those of its decision, 091. */
const consolePackages = 'preact|@preact/signals|@tanstack/query-core|governed-data-client'
const consoleRooms: readonly (readonly [RegExp, RegExp])[] = [
  [/^console\/src\/messages\//, new RegExp(`^(console/src/messages/|(${consolePackages})$)`)],
  [/^console\/src\/data\//, new RegExp(`^(console/src/(messages|data)/|(${consolePackages})(/\\w+)?$)`)],
  [/^console\/src\/ui\//, new RegExp(`^(console/src/(messages|ui)/|(${consolePackages})(/\\w+)?$)`)],
  [/^console\/src\//, new RegExp(`^(console/|virtual:documentation$|(${consolePackages})(/\\w+)?$)`)],
]

const consoleFiles = readdirSync('console/src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join('console/src', name))

it('every file of the console stays in its room, and takes no code of the service', () => {
  const strays = faults(consoleFiles, (file) => {
    const allowed = consoleRooms.find(([whose]) => whose.test(file))?.[1]
    return [
      ...textOf(file).matchAll(
        /^(?:(?:import|export) (type )?[^'();=]*? from |import )'([^']+)'|import\('([^']+)'\)/gm,
      ),
    ]
      .map(([, type, one, late = '']) => ({ type, target: one ?? late }))
      .map(({ type, target }) => ({ type, target: target.startsWith('.') ? join(dirname(file), target) : target }))
      .filter(({ type, target }) => allowed?.test(target) !== true && !(type && target.startsWith('src/')))
      .map(({ type = '', target }) => type + target)
  })

  expect(strays).toEqual([])
})

it('every file of the console says in its first lines what it is for', () => {
  expect(consoleFiles.filter((file) => !/^\/\*\*/.test(textOf(file)))).toEqual([])
})

it('no file of the console writes HTML by itself or keeps anything in the session, and those of `data` alone fetch', () => {
  const found = faults(consoleFiles, (file) => [
    ...(textOf(file).match(/dangerouslySetInnerHTML|innerHTML|sessionStorage/g) ?? []),
    ...(file.includes('/data/') ? [] : (textOf(file).match(/\bfetch\(/g) ?? [])),
  ])

  expect(found).toEqual([])
})

it('has no files that import each other in a circle, types included', () => {
  const circular = service.filter((file) => reachable(importsOf(file)).has(file))

  expect(circular).toEqual([])
})

it('has no file that neither a front door nor a script nor the package loads, such as an adapter that nobody opens', () => {
  const loaded = new Set(['handlers/worker.ts', 'handlers/node.ts', 'package.json', ...sourceFiles(['scripts'])])
  // A set goes on to what is added while it is walked through.
  for (const file of loaded) for (const target of filesNamedIn(file)) loaded.add(target)

  expect(service.filter((file) => !loaded.has(file))).toEqual([])
})

it('has no folder of more than 25 files, unless they are of one kind', () => {
  const folders = sourceFiles(['src', 'handlers', 'scripts']).map((file) => dirname(file))
  const crowded = [...new Set(folders)].filter(
    (folder) => !uniformFolders.includes(folder) && folders.filter((other) => other === folder).length > 25,
  )

  expect(crowded).toEqual([])
})

it('installs every change of the schema that there is', () => {
  const installed = importsOf('src/store/installation.ts').filter((file) => dirname(file) === 'src/store/schema')

  expect(installed.toSorted()).toEqual(sourceFiles(['src/store/schema']).toSorted())
})

it('the core is pure', () => {
  expect(faults(sourceFiles(['src/core']), (file) => textOf(file).match(impure) ?? [])).toEqual([])
})

it('every file keeps the bundle at one byte a character, decision 036', () => {
  const wide = /[=(:,]\s*\/[^\n/]*[^\0-\xff\n/][^\n/]*\/[dgimsuvy]*/g

  expect(faults(service, (file) => withoutComments(file).match(wide) ?? [])).toEqual([])
})

it('no regular expression looks for a run at the end of a text, which takes the square of its length', () => {
  const trailing = /(?:[(=,]\s*\/|\|)(?:\\.\?)?(?:\\.|\[[^\]\n]+\]|[\w.])[+*]\$(?=[/|])/g
  const files = service.filter((file) => !file.startsWith('src/connector-kit/'))

  expect(faults(files, (file) => withoutComments(file).match(trailing) ?? [])).toEqual([])
})

it('reads JSON as it was sent, decision 137', () => {
  const readers = ['src/core/exact-json.ts', 'src/core/json-cut.ts']
  const files = service.filter((file) => !readers.includes(file))

  expect(faults(files, (file) => withoutComments(file).match(/JSON\.parse\b|\.json\(\)/g) ?? [])).toEqual([])
})

it('every file says in its first lines what it is for', () => {
  expect(service.filter((file) => !/^\/\*\*/.test(textOf(file)))).toEqual([])
})

const startFiles = staticClosure('handlers/worker.ts')

it('loads nothing at the start of the Worker but what a start needs, decision 036', () => {
  const modules = [...startFiles].filter((target) => !target.endsWith('.ts'))
  const packages = new Set(modules.map((target) => /^(@[^/]+\/)?[^/]+/.exec(target)?.[0]))

  expect([...packages].sort()).toEqual(packagesOfStart)
})

it('makes no schema when the Worker is loaded, decision 036', () => {
  const loaded = [...startFiles].filter((file) => file.endsWith('.ts'))
  const made = faults(loaded, (file) =>
    statementsOf(file)
      .map((statement) => /^(?:export )?const [^=]+ = (.*)/s.exec(statement)?.[1] ?? '')
      .filter((value) => !/^(lazily\(|async |\([^)]*\)[^=]*=>|\w+ =>)/.test(value))
      .filter((value) => /\bz\s*\.\s*\w+\(/.test(value) || lateNames.some((name) => value.includes(`${name}()`))),
  )

  expect(made).toEqual([])
})

/** What a rule does not like about files, each with the name of its file, so that a failure tells all of them. */
function faults(files: readonly string[], inFile: (file: string) => readonly string[]): readonly string[] {
  return files.flatMap((file) => inFile(file).map((fault) => `${file}: ${fault}`))
}

type Factory = { readonly name: string; readonly parameters: string }

function oddFactories(files: readonly string[], isOdd: (factory: Factory) => boolean): readonly string[] {
  return faults(files, (file) =>
    factoriesOf(file)
      .filter(isOdd)
      .map(({ name, parameters }) => `${name}(${parameters})`),
  )
}

/** The exported functions that create or open something, with their parameters as they are written. */
function factoriesOf(file: string): readonly Factory[] {
  const found = textOf(file).matchAll(
    /^export (?:async )?function (?:create|open)([A-Z]\w*)(?:<[^(]*>)?\(((?:[^()]|\([^()]*\))*)\)/gm,
  )
  return [...found].map(([, name = '', parameters = '']) => ({ name, parameters: parameters.trim() }))
}

/** The number of the room below `folder` that a file is in; -1 where it is in none of them. */
function room(file: string, folder: string, order: readonly string[]): number {
  return file.startsWith(`${folder}/`) ? order.indexOf(/[a-z]+/.exec(file.slice(folder.length))?.[0] ?? '') : -1
}

/** What a file below `folder` imports from a room there that comes after its own. */
function importsBeyond(file: string, folder: string, order: readonly string[]): readonly string[] {
  if (!file.startsWith(`${folder}/`)) return []
  return importsOf(file).filter((target) => room(target, folder, order) > room(file, folder, order))
}

/** All files that are imported from `files` on, by whatever way. */
function reachable(files: readonly string[]): ReadonlySet<string> {
  const found = new Set(files)
  // A set goes on to what is added while it is walked through.
  for (const file of found) if (importsByFile.has(file)) for (const target of importsOf(file)) found.add(target)
  return found
}

/** Sources that a file has the path of, from where it is or from the root: imports, threads, parts, aliases. */
function filesNamedIn(file: string): readonly string[] {
  const code = file.endsWith('.ts') ? withoutComments(file) : textOf(file)
  return [...code.matchAll(/['"]([\w./-]+)\.[jt]s['"]/g)]
    .flatMap(([, name = '']) => [join(dirname(file), `${name}.ts`), normalize(`${name}.ts`)])
    .filter((path) => existsSync(path))
}

function sourceFiles(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  )
}

/** Each is read once, however many rules it has to keep. */
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(file, 'utf8')
  texts.set(file, text)
  return text
}

function withoutComments(file: string): string {
  return textOf(file).replace(/^\s*(\/?\*|\/\/).*$/gm, '')
}

function importsOf(file: string): readonly string[] {
  return importsByFile.get(file) ?? []
}

function readImports(file: string): readonly string[] {
  const text = textOf(file)
  return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, target = '']) =>
    target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
  )
}

/** What is loaded together with `entry`: files and packages that are imported, but for types, and not by `import()`. */
function staticClosure(entry: string): ReadonlySet<string> {
  const found = new Set([entry])
  // A set goes on to what is added while it is walked through.
  for (const file of found) {
    if (!file.endsWith('.ts')) continue
    const text = textOf(file)
    for (const [, target = ''] of text.matchAll(/^(?:import|export) (?!type )(?:[^'();]*? from )?'([^']+)'/gm)) {
      found.add(target.startsWith('.') ? normalize(join(dirname(file), target)) : target)
    }
  }
  return found
}

/** The names of all that is made lazily. */
const lateNames = service.flatMap((file) =>
  [...textOf(file).matchAll(/const (\w+) = lazily\(/g)].map(([, name = '']) => name),
)

function statementsOf(file: string): readonly string[] {
  return textOf(file).split(/\n(?=\S)/)
}
