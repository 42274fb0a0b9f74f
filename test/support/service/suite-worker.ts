/** The Worker that the acceptance suite talks to: handlers/worker.ts, with passwords hashed at a lower cost. */
import { createWorker } from '../../../handlers/worker.ts'
import { quickHashing } from './quick-hashing.ts'

export * from '../../../handlers/worker.ts'

const worker = createWorker({ passwords: quickHashing })

export const { LicenseObject } = worker

export default worker.handler
