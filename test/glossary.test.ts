/** Names use the words of docs/glossary.md: none has a word, and no export or file a name, that the page lists as not to use. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'

const [terms = '', notToUse = ''] = readFileSync('docs/glossary.md', 'utf8').split('\n## Names not to use\n')
const [words, names] = notToUse.split('\nNo exported name').map(firstColumn)

/** Words that are data: a field of the sample workspace. */
const data = new Set(['lentAt'])

const service = filesIn(['src', 'handlers', 'packages', 'scripts', 'extensions', 'test/support'])
const files = [...service, ...filesIn(['console/src'])]

it('has no name with a word that the glossary forbids', () => {
  const found = files.flatMap((file) =>
    [...identifiersOf(readFileSync(file, 'utf8'))]
      .filter((name) => !data.has(name) && wordsOf(name).some((word) => words?.has(word)))
      .map((name) => `${file}: ${name}`),
  )

  expect(found).toEqual([])
})

it('exports no name that the glossary forbids', () => {
  const found = service.flatMap((file) =>
    exportedNames(readFileSync(file, 'utf8'))
      .filter((name) => names?.has(name))
      .map((name) => `${file}: ${name}`),
  )

  expect(found).toEqual([])
})

it('has no file with a name that the glossary forbids', () => {
  const nameOf = (file: string) => basename(file).replace(/\..*$/, '')

  expect(service.filter((file) => names?.has(nameOf(file)))).toEqual([])
  expect(files.filter((file) => wordsOf(nameOf(file)).some((word) => words?.has(word)))).toEqual([])
})

it('reads the lists of words and of names to forbid', () => {
  expect(words?.size).toBeGreaterThan(50)
  expect(names?.size).toBeGreaterThan(40)
})

it('finds the names of code, not the words of its comments and texts', () => {
  const code = `
    /** comment */ function one<Two>({ three: four }: Five) { // comment
      return \`text \${six(\`text \${seven} text\`, { eight })} text\` + 'text' + "text" + /['\`text]/.source
    }
    const nine = { ten: 11 } // it’s “text”
  `

  expect([...identifiersOf(code)].filter((name) => !/^(function|return|const|source)$/.test(name))).toEqual([
    'one',
    'Two',
    'three',
    'four',
    'Five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
  ])
  expect(wordsOf('MAX_askedBy2HTTPNames')).toEqual(['max', 'asked', 'by', 'http', 'names'])
})

it('lists the terms in alphabetical order, one line each', () => {
  const listed = [...terms.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, name = '']) => name).slice(1)

  expect(listed.length).toBeGreaterThan(50)
  expect(listed).toEqual([...listed].sort((one, other) => sortKey(one).localeCompare(sortKey(other), 'en')))
})

/** The names of the first column of a table, each between backticks. */
function firstColumn(table: string): ReadonlySet<string> {
  const rows = table.matchAll(/^\| (`[^|]*`) \|/gm)
  return new Set([...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)))
}

function filesIn(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[jt]sx?$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
      .map((name) => join(folder, name)),
  )
}

/** Of a camelCase, kebab-case or UPPER_CASE name, in lower case. */
function wordsOf(name: string): readonly string[] {
  return (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase())
}

/** The identifiers of a file, declared or used, each once. Comments, texts and regular expressions have none, but for `${…}`. */
function identifiersOf(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  /** Per open template: how many braces are open in its `${`; undefined in its text. */
  const templates: (number | undefined)[] = []
  for (let at = 0; ; ) {
    const isText = templates.length > 0 && templates.at(-1) === undefined
    const token = isText ? inTemplate : inCode
    token.lastIndex = at
    const [one = ''] = token.exec(text) ?? []
    if (one === '') return found
    at = token.lastIndex
    const braces = templates.at(-1)
    if (isText && one === '`') templates.pop()
    else if (isText && one === '${') templates[templates.length - 1] = 0
    else if (one === '`') templates.push(undefined)
    else if (one === '{' && braces !== undefined) templates[templates.length - 1] = braces + 1
    else if (one === '}' && braces !== undefined)
      templates[templates.length - 1] = braces === 0 ? undefined : braces - 1
    else if (/^[A-Za-z_$][\w$]*$/.test(one) && !isText) found.add(one)
  }
}

const inTemplate = /\\[\s\S]|\$\{|`/g
const inCode =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?<=[=(,:?[&|!;{}+]\s*|return )\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|[`{}]|[A-Za-z_$][\w$]*/g

function exportedNames(text: string): readonly string[] {
  const declared = text.matchAll(
    /^export (?:default )?(?:async )?(?:const|let|class|type|interface|function\*?) (\w+)/gm,
  )
  const listed = text.matchAll(/^export (?:const )?(?:type )?\{([^}]*)\}/gm)
  return [
    ...[...declared].map(([, name = '']) => name),
    ...[...listed].flatMap(([, names = '']) => names.split(',').map((name) => /(\w+)\s*$/.exec(name)?.[1] ?? '')),
  ]
}

function sortKey(name: string): string {
  return name.replace(',', '').toLowerCase()
}
