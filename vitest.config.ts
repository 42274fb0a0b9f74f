import { join } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

const kit = (file: string) => join(import.meta.dirname, `src/connector-kit/${file}.ts`)

/** Where what takes long to prepare is kept for all of a run. */
const runDirectory = 'test/support/run-directory.ts'

/**
 * How long anything may take before it counts as hung, on a machine many times slower than ours that does other things
 * besides: no test may fail for slowness.
 */
const patient = {
  testTimeout: 1_200_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 60_000 } },
  globalSetup: [runDirectory],
}

/** Files that share nothing but a server, or nothing at all, share a process: a quarter of what they take is its start. */
const together = { ...patient, isolate: false }

export default defineConfig({
  test: {
    teardownTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...patient, name: 'architecture', include: ['test/*.test.ts'] } },
      { test: { ...together, name: 'core', include: ['test/core/**/*.test.ts'] } },
      { test: { ...together, name: 'contract', include: ['test/contract/**/*.test.ts'] } },
      {
        // An extension has a package.json of its own, so that ours is found by these names only.
        resolve: {
          alias: [
            { find: /^governed-data-service\/connector-kit$/, replacement: kit('kit') },
            { find: /^governed-data-service\/connector-kit\/testing$/, replacement: kit('harness') },
          ],
        },
        test: {
          ...patient,
          name: 'extensions',
          include: ['extensions/**/*.test.ts', 'test/.connectors/**/*.test.ts'],
        },
      },
      { test: { ...patient, name: 'property', include: ['test/property/**/*.test.ts'] } },
      { test: { ...patient, name: 'migration', include: ['test/migration/**/*.test.ts'] } },
      { test: { ...patient, name: 'access', include: ['test/access/**/*.test.ts'] } },
      { test: { ...patient, name: 'fuzz', include: ['test/fuzz/**/*.test.ts'] } },
      {
        test: {
          ...together,
          name: 'acceptance-node',
          include: ['test/acceptance/**/*.test.ts'],
          globalSetup: [runDirectory, 'test/support/serve-node.ts'],
        },
      },
      {
        test: {
          ...together,
          name: 'acceptance-workerd',
          include: ['test/acceptance/**/*.test.ts'],
          globalSetup: [runDirectory, 'test/support/serve-workerd.ts'],
        },
      },
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            main: './test/workerd/worker.ts',
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { bindings: { SERVICE_DATABASE_URL: inject<string>('databaseUrl') } },
          })),
        ],
        test: {
          ...patient,
          name: 'workerd',
          include: ['test/workerd/**/*.test.ts'],
          globalSetup: [runDirectory, 'test/workerd/system-database.ts'],
        },
      },
    ],
  },
})
