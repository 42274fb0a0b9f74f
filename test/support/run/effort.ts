/**
 * How much a run of the tests tries (docs/testing.md): `quick` is what has to pass before anything lands, `full` is all of
 * it. SERVICE_TEST_EFFORT says which; what it changes is read in one place each: the number of random cases in cases.ts,
 * the databases in test/support/servers/tested-providers.ts, the files in only-in-full.ts, what is drawn from in seed.ts,
 * whether answers of Workers are held to their OpenAPI document in test/support/service/world.ts.
 */
export type Effort = 'quick' | 'full'

export function effort(): Effort {
  const given = process.env.SERVICE_TEST_EFFORT ?? 'quick'
  if (given !== 'quick' && given !== 'full') throw new Error(`SERVICE_TEST_EFFORT is quick or full, not ${given}`)
  return given
}
