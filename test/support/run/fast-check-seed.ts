/** Properties that name no seed draw from that of the run; those that name no number of cases draw as many as the tier says. */
import fc from 'fast-check'
import { effort } from './effort.ts'

fc.configureGlobal({ seed: Number(process.env.SERVICE_TEST_SEED), numRuns: effort() === 'full' ? 100 : 25 })
