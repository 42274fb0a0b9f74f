import { join } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

const kit = (file: string) => join(import.meta.dirname, `src/connector-kit/${file}.ts`)

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'architecture', include: ['test/architecture.test.ts'] } },
      { test: { name: 'core', include: ['test/core/**/*.test.ts'], testTimeout: 60_000 } },
      {
        test: { name: 'contract', include: ['test/contract/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 120_000 },
      },
      {
        // An extension has a package.json of its own, so that ours is found by these names only.
        resolve: {
          alias: [
            { find: /^governed-data-service\/connector-kit$/, replacement: kit('kit') },
            { find: /^governed-data-service\/connector-kit\/testing$/, replacement: kit('harness') },
          ],
        },
        test: {
          name: 'extensions',
          include: ['extensions/**/*.test.ts', 'test/.connectors/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'migration',
          include: ['test/migration/**/*.test.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: 'access', include: ['test/access/**/*.test.ts'], testTimeout: 600_000, hookTimeout: 120_000 } },
      { test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], testTimeout: 180_000, hookTimeout: 120_000 } },
      {
        test: {
          name: 'acceptance-node',
          include: ['test/acceptance/**/*.test.ts'],
          globalSetup: ['test/support/serve-node.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'acceptance-workerd',
          include: ['test/acceptance/**/*.test.ts'],
          globalSetup: ['test/support/serve-workerd.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
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
          name: 'workerd',
          include: ['test/workerd/**/*.test.ts'],
          globalSetup: ['test/workerd/system-database.ts'],
          testTimeout: 60_000,
        },
      },
    ],
  },
})
