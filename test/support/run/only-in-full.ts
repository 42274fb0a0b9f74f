/**
 * What the quick tier leaves out (docs/testing.md): files that take long and prove what no sentence of docs/proofs.md says, or
 * prove again, at greater length or in another runtime, what a file of the quick tier proves. Of the console it tries stories alone.
 */
import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { effort } from './effort.ts'

/** Patterns of files; a project that has no other file is left out with them. */
export const ONLY_IN_FULL: readonly string[] = [
  'test/**/{embedded,hostile,large,odd}-*.test.ts',
  'test/acceptance/command-line/{data,signing-in}.test.ts',
  'test/access/access.mariadb.test.ts',
  'test/acceptance/{changed-types,connector-outage,files-random,imported-databases,source-first-use,source-outage}.test.ts',
  'test/console/{assistant-injection,bulk,columns,device,export,fill,focus,import,keyboard,large,links,screens,sequences,types,workspace-settings}.test.ts',
  'test/databases/{column-defaults.mariadb,ended-statements,hyperdrive,published.*,round-trip.postgres}.test.ts',
  'test/databases/{ddl.planetscale,foreign-keys.planetscale,nested-writes.planetscale}.test.ts',
  'test/migration/model-file-crash.test.ts',
  'test/process/{browser,cli-package,client-package,connector-create,left-requests,publish-packages,sandbox-outage.node,three-editors,worker-build}.test.ts',
  'test/ports/{connector-reload.*,sql-driver.mariadb,sql-driver.planetscale}.test.ts',
  'test/property/{reads.collations,types.embedded,types.mariadb,types.neon,types.planetscale}.test.ts',
  'test/timing/*.test.ts',
  'test/workerd/refused-start.test.ts',
]

/**
 * What the quick tier tries besides what the pages name: a story of each screen of the console, and some tests of files that take
 * long. Of a file that stands neither here nor on the pages it tries all.
 */
export const STORIES: Readonly<Record<string, readonly string[]>> = {
  'console/access': ['makes a policy in its matrix'],
  'console/account': ['makes a key by the keyboard'],
  'console/assistant': ['is set up, answers, shows its steps'],
  'console/audit-log': ['lists what happened, by action and by whom'],
  'console/code': ['reads an item, and saves what was typed'],
  'console/documentation': ['says of a screen what it is'],
  'console/editing': ['merges with what another changed beside it'],
  'console/files': ['are uploaded by a button or dropped anywhere'],
  'console/grid': ['shows rows by one request, exactly', 'shows a member what their rights give'],
  'console/history': ['is shown when it is opened'],
  'console/item': [
    'opens from its row, by a link',
    'asks first, says what refers to it',
    'has what was typed, and is made once where the answer was lost',
  ],
  'console/layouts': ['is chosen, shows items on their days'],
  'console/license': ['tells administrators the state'],
  'console/model': ['is made by hand'],
  'console/palette': ['leads to an item of any collection'],
  'console/set-up': ['attaches a database of %s'],
  'console/sign-in': [
    'signs in and out by keyboard alone',
    'notices that the session is gone',
    'says that there is no connection',
    'keeps no token where a script could read it',
  ],
  'console/sources': ['shows what has changed, imports more'],
  'console/views': ['is saved for oneself by a member'],
  'console/ways-in': ['an invitation: by its mail to an account'],
  'acceptance/canary': ['says no secret that is sent to any route'],
  'acceptance/command-line/model': ['pushes what was agreed to'],
  'acceptance/exact-texts': ['shows and changes by a policy what it exactly says'],
  'fuzz/items-fuzz': ['are answered: batch %i', 'comes back as it was sent: %s', 'is refused: %s'],
  'ports/connector-host.node': [
    'ends an endless loop, and nothing but it',
    'bounds memory: %s',
    'leaves no process behind when it is closed',
    'lets the module scope make a request to a granted host',
    'follows a redirect within the grant',
    'has no way out at all without a grant',
    'gives a call up after its time',
  ],
  'ports/file-store.s3': [
    'is not asked again after a refusal',
    'ends with an error where it sends less than it promised',
  ],
  'ports/lost-connection': ['is done, once', 'whose own statement ends the connection is not run again'],
  'ports/workspace-state.node': ['frees the lock of a process that is killed'],
  'ports/connector-gate': ['opens a tunnel to what is granted, and to nothing else'],
  'ports/sql-driver': [
    'answers every value in the text form of the database',
    'leaves nothing behind of a batch that failed',
    'waits for running statements when it closes',
    'is not sent',
  ],
  'process/local-run.node': [
    'prints one block whose curl line',
    'leaves no process and no lock',
    'loses no acknowledged write',
  ],
  'process/local-run.workerd': ['prints one block whose curl line'],
  'process/observing': ['count requests by route'],
  'process/assistant-kills': ['runs an approved call at most once', 'counts all that was kept'],
  'process/client-types': ['is of this version', 'takes what is right'],
}

/** Files that take long beyond what the pages name. */
const LONG = [
  'test/acceptance/{access-effect,access-tests,aggregate-refusals,assistant,bulk-writes,canary,connector-answers,connectors}.test.ts',
  'test/acceptance/{database-refusals,devices,example-connectors,exact-texts,files,history,idempotency-elsewhere}.test.ts',
  'test/acceptance/{idempotent-batches,license-limits,license-status,list-aggregates,many-to-many,members}.test.ts',
  'test/acceptance/{migration-effects,model-file-apply,model-file-databases,names-and-views,passwords}.test.ts',
  'test/acceptance/{provider-sign-in,rights-meanwhile,silent-sources,source-databases,states-between,upserts,workspaces}.test.ts',
  'test/acceptance/command-line/model.test.ts',
  'test/fuzz/items-fuzz.test.ts',
  'test/ports/{answers-from-outside,connector-gate,connector-host.node,file-store.s3,image-scaler,lost-connection,sql-driver}.test.ts',
  'test/ports/workspace-state.node.test.ts',
  'test/process/{assistant-kills,client-types,license-start,local-run.*,node-server,observing,openapi-clients}.test.ts',
]

/** Whether the quick tier tries of a file only what is named: on the Worker, of the console, and of files that take long. */
export function isNarrowed(project: string, file: string): boolean {
  return /^(?:acceptance-workerd|console-.*)$/.test(project) || LONG.some((pattern) => matchesGlob(file, pattern))
}

/** Projects that ask the files of another one again: the client in a second runtime, on a second platform. */
const PROJECTS_ONLY_IN_FULL = /^client-(?!node-on-node$)/

/** Where the Worker does the work by other means than Node, all that the pages name is tried there: Durable Objects, R2, the sandbox. */
const OF_THE_PLATFORM = 'test/acceptance/{connectors,files,license-limits,license-status,migrations,system}.test.ts'

type Place = { readonly file: string; readonly title: string | undefined }

/** The places that docs/contract.md and docs/proofs.md name, row by row. */
function rows(): readonly (readonly Place[])[] {
  const page = (name: string) => readFileSync(join(import.meta.dirname, `../../../docs/${name}.md`), 'utf8')
  return `${page('contract')}${page('proofs')}`
    .split('\n')
    .map((row) =>
      Array.from(row.matchAll(/`(test\/[\w./-]+)`(?: “(.+?)”)?/g), ([, file = '', title]) => ({ file, title })),
    )
}

/** Of each row the first test of the API, which the quick tier tries on the Worker, too. */
function onWorkerd(): readonly Place[] {
  return rows().flatMap((row) => {
    const places = row.filter(({ file }) => file.startsWith('test/acceptance/'))
    return places.filter((place, index) => index === 0 || matchesGlob(place.file, OF_THE_PLATFORM))
  })
}

/**
 * The files of which the quick tier tries a part in a project, with what it tries: each place with a part of a title, with none,
 * which means all tests of the file, or with another line of it, such as a case of a table.
 */
export function promised(project: string): ReadonlyMap<string, readonly Place[]> {
  if (project === 'acceptance-workerd') return Map.groupBy(onWorkerd(), ({ file }) => file)
  const stories = Object.entries(STORIES).flatMap(([name, titles]) =>
    titles.map((title) => ({ file: `test/${name}.test.ts`, title })),
  )
  const isOfConsole = ({ file }: Place) => file.startsWith('test/console/')
  const named = project.startsWith('console-') ? stories.filter(isOfConsole) : [...rows().flat(), ...stories]
  return Map.groupBy(named, ({ file }) => file)
}

/** Patterns of the files of a room that are tried on a platform: of the console what a platform answers to a browser. */
export function filesOn(platform: string, room: 'console' | 'acceptance'): readonly string[] {
  if (effort() === 'full' || (platform === 'node' && room === 'acceptance')) return [`test/${room}/**/*.test.ts`]
  if (room === 'acceptance') return [...promised('acceptance-workerd').keys()]
  return platform === 'workerd' ? ['test/console/sign-in.test.ts'] : [...promised('console-node').keys()]
}

/** A MySQL is nowhere but where somebody names one. */
const UNNAMED = process.env.SERVICE_TEST_MYSQL === undefined ? ['test/**/*.mysql.test.ts'] : []

export const leftOut: readonly string[] = [...UNNAMED, ...(effort() === 'full' ? [] : ONLY_IN_FULL)]

export function isInThisTier(project: string): boolean {
  return effort() === 'full' || !PROJECTS_ONLY_IN_FULL.test(project)
}
