/**
 * What the language server of TypeScript offers at places of a program; prints it as JSON. A process of its own: TypeScript 7
 * has no such API, so it is that of 5, which editors use as well.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as TypeScript from '../openapi-types/node_modules/typescript/lib/typescript.js'

const here = import.meta.dirname
const ts: typeof TypeScript = createRequire(join(here, '../openapi-types/package.json'))('typescript')

const places: Readonly<Record<string, string>> = {
  'a field': "db.articles.list({ fields: ['id', '|'] })",
  'a relation': 'db.articles.list({ fields: [{ | }] })',
  'a field of a relation': "db.articles.list({ fields: ['id', { author: ['|'] }] })",
  'a field two relations away': "db.articles.list({ fields: [{ author: ['name', { profile: ['|'] }] }] })",
  'a field of a query of a relation': "db.articles.list({ fields: [{ comments: { limit: 3, fields: ['|'] } }] })",
  'what a relation is asked': 'db.articles.list({ fields: [{ comments: { | } }] })',
  'what a filter names': "db.articles.list({ fields: ['id'], filter: { | } })",
  'an operator': "db.articles.list({ fields: ['id'], filter: { title: { | } } })",
  'a value of a filter': "db.articles.list({ filter: { status: { _eq: '|' } } })",
  'what a sort names': "db.articles.list({ fields: ['id'], sort: [{ | }] })",
  'a direction': "db.articles.list({ fields: ['id'], sort: [{ author: { name: '|' } }] })",
  'what a collection does': 'db.articles.|',
  'a collection': 'db.|',
  'what is created': 'db.articles.create({ | })',
}

const file = join(here, 'places.ts')
const head = `import { createClient } from '../../packages/client/src/index.ts'
import type { Schema } from './schema.ts'
const db = createClient<Schema>('', { workspace: 'demo' })
`
let text = head
let version = 0
const { config } = ts.readConfigFile(join(here, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, here)
const server = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file],
  getScriptVersion: (name) => (name === file ? String(version) : '0'),
  getScriptSnapshot: (name) =>
    ts.sys.fileExists(name) || name === file
      ? ts.ScriptSnapshot.fromString(name === file ? text : readFileSync(name, 'utf8'))
      : undefined,
  getCurrentDirectory: () => here,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (name) => name === file || ts.sys.fileExists(name),
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
})

const offered = Object.entries(places).map(([place, code]) => {
  text = head + code.replace('|', '')
  version += 1
  const found = server.getCompletionsAtPosition(file, head.length + code.indexOf('|'), {})
  return [place, (found?.entries ?? []).map(({ name }) => name).sort()]
})
console.log(JSON.stringify(Object.fromEntries(offered)))
