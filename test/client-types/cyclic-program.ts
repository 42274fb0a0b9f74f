/** 1,000 collections of which each leads to others and back, and 200 reads of four levels, as files of a program. */
const COLLECTIONS = 1_000
const READS = 200

export function cyclicProgram(client: string): Readonly<Record<string, string>> {
  const name = (index: number) => `c${(index + COLLECTIONS) % COLLECTIONS}`
  const indexes = Array.from({ length: COLLECTIONS }, (_, index) => index)
  const written = 'name: string; size?: number | null; aId: string; bId?: string | null'
  const schema = indexes.map(
    (index) => `  ${name(index)}: {
    key: string
    keyFields: 'id'
    read: { id: string; name: string; size: number | null; aId: string; bId: string | null }
    create: { id?: string; ${written} }
    update: { ${written.replaceAll(/(\w+):/g, '$1?:')} }
    one: { a: { to: '${name(index + 1)}'; by: 'aId' }; b: { to: '${name(index * 7 + 3)}'; by: 'bId'; null: true } }
    many: { as: '${name(index - 1)}'; bs: '${name(index * 13 + 5)}' }
  }`,
  )
  const reads = indexes.slice(0, READS).map(
    (index) => `const r${index} = await db.${name(index * 5)}.list({
  fields: ['id', { a: ['name', { b: ['size', { as: { fields: ['id', { a: ['name'] }], limit: 2, filter: { name: { _eq: 'x' } } } }] }] }],
  filter: { a: { b: { name: { _contains: 'e' } } }, as: { _some: { size: { _gt: 3 } } } },
  sort: [{ a: { name: 'asc' } }],
  limit: 5,
})
if (r${index}.ok) { const text: string | undefined = r${index}.data[0]?.a.b?.as.data[0]?.a.name; void text }`,
  )
  return {
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        module: 'esnext',
        moduleResolution: 'bundler',
        types: [],
        strict: true,
        skipLibCheck: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        allowImportingTsExtensions: true,
        noEmit: true,
      },
      files: ['program.ts'],
    }),
    'schema.ts': `export interface Schema {\n${schema.join('\n')}\n}\n`,
    'program.ts': `import type { Collection } from '${client}'
import type { Schema } from './schema.ts'
declare const db: { readonly [C in keyof Schema & string]: Collection<Schema, C> }
${reads.join('\n')}
`,
  }
}
