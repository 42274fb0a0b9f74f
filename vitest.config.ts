import { join } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { firstOf } from './test/support/run/cases.ts'
import { effort } from './test/support/run/effort.ts'
import { LongestFirst } from './test/support/run/longest-first.ts'
import { filesOn, isInThisTier, leftOut } from './test/support/run/only-in-full.ts'
import { SHORT_LIVED } from './test/support/run/run-directory.ts'
import { seedOfRun } from './test/support/run/seed.ts'

const kit = (file: string) => join(import.meta.dirname, `src/connector-kit/${file}.ts`)

const client = join(import.meta.dirname, 'packages/client/src/index.ts')

/** Where what takes long to prepare is kept for all of a run. */
const runDirectory = 'test/support/run/run-directory.ts'

/** For global setups and tests alike, and of one number in all projects. */
process.env.SERVICE_TEST_SEED = String(seedOfRun())

const MINUTE = 60_000

/**
 * What every project has: limits by what its tests wait for. A test takes a tenth of its limit at most on a machine like
 * ours; the rest is for machines that are slower or do other things besides, since no test may fail for slowness, while
 * one that hangs costs a minute or two. What takes longer by its nature says so itself.
 */
const within = (limit: number) => ({
  testTimeout: limit,
  hookTimeout: 2 * MINUTE,
  expect: { poll: { timeout: MINUTE } },
  // Tests that say that they may run at once wait, and compute nothing.
  maxConcurrency: 50,
  // Node imports the files as it does when it serves: nothing is transformed on the way.
  experimental: { viteModuleRunner: false },
  globalSetup: [runDirectory],
  setupFiles: ['test/support/run/fast-check-seed.ts'],
  // Of what tests start, such as embedded databases.
  env: { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${SHORT_LIVED}` },
})

/** Names that stand for others, and Workers, need it. */
const transformed = { experimental: { viteModuleRunner: true } }

/** Nothing is waited for. */
const computing = within(MINUTE / 2)
/** Servers are asked. */
const served = within(2 * MINUTE)
/** Hundreds of random cases in one test, or programs killed again and again. */
const exhaustive = within(10 * MINUTE)

/** Files that share nothing but a server, or nothing at all, share a process: a quarter of what they take is its start. */
const together = { isolate: false }

/** What asks a server that all files of a project share. */
const asking = { ...served, ...together, setupFiles: [...served.setupFiles, 'test/support/service/print-faults.ts'] }

const platforms = {
  node: 'test/support/service/serve-node.ts',
  workerd: 'test/support/service/serve-workerd.ts',
}

/** The files about items, asked by the client in one of its runtimes, on one of the platforms (decision 073). */
const asked = (through: 'node' | 'workerd' | 'chromium', platform: 'node' | 'workerd') => ({
  test: {
    ...asking,
    name: `client-${through}-on-${platform}`,
    include: [...ITEM_FILES, 'test/through/**/*.test.ts'],
    provide: { through },
    globalSetup: [runDirectory, platforms[platform]],
  },
})

const ITEM_FILES = firstOf(
  [
    'items',
    'relations',
    'upserts',
    'conditional-writes',
    'aggregates',
    'atomic-operators',
    'bulk-writes',
    'filtered-items',
    'idempotency',
    'inside-values',
    'keys',
    'keyset',
    'list-aggregates',
    'many-to-many',
    'query-method',
    'refused-values',
    'sorted-types',
  ],
  4,
).map((name) => `test/acceptance/${name}.test.ts`)

/** Of each file what is promised. */
const promises = effort() === 'quick' ? { runner: 'test/support/run/promised.ts' } : {}

/** Tests of one room below `test`, each room a project of its name. */
const room = (name: string, limits: typeof served) => ({
  test: { ...limits, ...together, ...promises, name, include: [`test/${name}/**/*.test.ts`] },
})

/** What a person sees, in a browser, on one platform. */
const screens = (platform: string, serve: string) => ({
  test: {
    ...asking,
    name: `console-${platform}`,
    ...promises,
    include: [...filesOn(platform, 'console')],
    globalSetup: [runDirectory, serve],
  },
})

const projects: readonly TestProjectInlineConfiguration[] = [
  { test: { ...computing, ...together, name: 'architecture', include: ['test/*.test.ts'] } },
  room('core', computing),
  room('ports', served),
  room('databases', served),
  {
    // The command line is made of the client as it will be packed, which here is its sources.
    resolve: { alias: [{ find: /^governed-data-client$/, replacement: client }] },
    ...room('process', { ...served, ...transformed }),
  },
  room('security', served),
  {
    // An extension has a package.json of its own, so that ours is found by these names only.
    resolve: {
      alias: [
        { find: /^governed-data-service\/connector-kit$/, replacement: kit('kit') },
        { find: /^governed-data-service\/connector-kit\/testing$/, replacement: kit('harness') },
      ],
    },
    test: {
      ...served,
      ...transformed,
      name: 'extensions',
      include: ['extensions/**/*.test.ts', 'test/.connectors/**/*.test.ts'],
    },
  },
  room('property', exhaustive),
  room('migration', exhaustive),
  room('access', exhaustive),
  room('fuzz', exhaustive),
  {
    test: {
      ...asking,
      name: 'acceptance-node',
      ...promises,
      include: ['test/acceptance/**/*.test.ts'],
      globalSetup: [runDirectory, 'test/support/service/serve-node.ts'],
    },
  },
  {
    test: {
      ...asking,
      name: 'acceptance-workerd',
      ...promises,
      include: [...filesOn('workerd', 'acceptance')],
      globalSetup: [runDirectory, 'test/support/service/serve-workerd.ts'],
    },
  },
  screens('node', 'test/support/service/serve-node.ts'),
  screens('workerd', 'test/support/service/serve-workerd.ts'),
  ...(['node', 'workerd', 'chromium'] as const).flatMap((through) => [
    asked(through, 'node'),
    asked(through, 'workerd'),
  ]),
  {
    plugins: [
      cloudflareTest(({ inject }) => ({
        main: './test/workerd/worker.ts',
        wrangler: { configPath: './wrangler.toml' },
        miniflare: { bindings: { SERVICE_DATABASE_URL: inject<string>('databaseUrl') }, r2Buckets: ['FILES'] },
      })),
    ],
    test: {
      ...served,
      ...together,
      ...transformed,
      name: 'workerd',
      include: ['test/workerd/**/*.test.ts'],
      globalSetup: [runDirectory, 'test/workerd/system-database.ts'],
    },
  },
  {
    // Verdicts that other work on the machine can change: when all else is done, one file after the other, and
    // again before one of them counts.
    test: {
      ...served,
      name: 'timing',
      include: ['test/timing/**/*.test.ts'],
      retry: 2,
      maxWorkers: 1,
      sequence: { groupOrder: 1 },
    },
  },
]

export default defineConfig({
  test: {
    teardownTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    projects: projects
      .filter(({ test }) => isInThisTier(String(test?.name)))
      .map((project) => ({
        ...project,
        test: { ...project.test, exclude: [...configDefaults.exclude, ...leftOut] },
      })),
  },
})
