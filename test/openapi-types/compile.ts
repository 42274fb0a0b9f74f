/**
 * OpenAPI documents → the types that openapi-typescript makes of them, and what a compiler says of a program that uses
 * them. A process of its own: the compiler that openapi-typescript needs is not the one of the repository.
 *
 *   node compile.ts FOLDER — writes NAME.d.ts for each NAME.json there, prints what is wrong with program.ts
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const [folder = '.'] = process.argv.slice(2)
const names = readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []))
for (const name of names) {
  const document = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
  writeFileSync(join(folder, `${name}.d.ts`), astToString(await openapiTS(document)))
}

const files = ['program.ts', ...names.map((name) => `${name}.d.ts`)]
const program = ts.createProgram(
  files.map((name) => join(folder, name)),
  {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: [],
  },
)
for (const { messageText, file, start = 0 } of ts.getPreEmitDiagnostics(program)) {
  const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1
  console.log(`${file?.fileName.split('/').at(-1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
}
