/**
 * What the quick tier leaves out (docs/testing.md): files that take long and prove what no sentence of docs/proofs.md says, or
 * prove again, at greater length or in another runtime, what a file of the quick tier proves.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { effort } from './effort.ts'

/** Patterns of files; a project that has no other file is left out with them. */
export const ONLY_IN_FULL: readonly string[] = [
  'test/**/{embedded,hostile,large,odd}-*.test.ts',
  'test/acceptance/command-line/{data,signing-in}.test.ts',
  'test/console/{bulk,columns,device,export,fill,import,keyboard,large,links,types}.test.ts',
  'test/databases/{ended-statements,published.*,ddl.planetscale,foreign-keys.planetscale,nested-writes.planetscale}.test.ts',
  'test/process/{cli-package,client-package,publish-packages}.test.ts',
  'test/property/{reads.collations,types.embedded,types.neon,types.planetscale}.test.ts',
  'test/timing/*.test.ts',
]

/** Projects that ask the files of another one again: the client in a second runtime, on a second platform. */
const PROJECTS_ONLY_IN_FULL = /^client-(?!node-on-node$)/

/** What the quick tier tries on the Worker, too: of the console what a platform answers to a browser, of the API what is promised. */
const ON_WORKERD = {
  console: () => ['test/console/sign-in.test.ts'],
  acceptance: () => [...promised().keys()].filter((file) => file.startsWith('test/acceptance/')),
}

/**
 * The files that docs/contract.md and docs/proofs.md name, with the places that do: each with a part of a title, with none, which means all tests of
 * the file, or with another line of it, such as a case of a table.
 */
export function promised(): ReadonlyMap<string, readonly { readonly title: string | undefined }[]> {
  const page = (name: string) => readFileSync(join(import.meta.dirname, `../../../docs/${name}.md`), 'utf8')
  const places = [...`${page('contract')}${page('proofs')}`.matchAll(/`(test\/[\w./-]+)`(?: “(.+?)”)?/g)].map(
    ([, file = '', title]) => ({ file, title }),
  )
  return Map.groupBy(places, ({ file }) => file)
}

/** Patterns of the files of a room that are tried on a platform. */
export function filesOn(platform: string, room: keyof typeof ON_WORKERD): readonly string[] {
  return platform === 'node' || effort() === 'full' ? [`test/${room}/**/*.test.ts`] : ON_WORKERD[room]()
}

export const leftOut: readonly string[] = effort() === 'full' ? [] : ONLY_IN_FULL

export function isInThisTier(project: string): boolean {
  return effort() === 'full' || !PROJECTS_ONLY_IN_FULL.test(project)
}
