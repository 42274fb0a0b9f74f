/**
 * What the quick tier leaves out (docs/testing.md): files that take long and prove what no sentence of docs/contract.md says, or
 * prove again, at greater length or in another runtime, what a file of the quick tier proves.
 */
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

/** Of the console, what the quick tier tries on the Worker, too: what the platform answers to a browser. */
const CONSOLE_ON_WORKERD = ['editing', 'sign-in', 'ways-in'].map((name) => `test/console/${name}.test.ts`)

/** Patterns of the files of the console that are tried on a platform. */
export function consoleFilesOn(platform: string): readonly string[] {
  return platform === 'node' || effort() === 'full' ? ['test/console/**/*.test.ts'] : CONSOLE_ON_WORKERD
}

export const leftOut: readonly string[] = effort() === 'full' ? [] : ONLY_IN_FULL

export function isInThisTier(project: string): boolean {
  return effort() === 'full' || !PROJECTS_ONLY_IN_FULL.test(project)
}
