/** Properties that name no seed draw from that of the run. */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.SERVICE_TEST_SEED) })
