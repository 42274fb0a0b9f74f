/** A process of an instance, as `npm run start:node` starts it, with passwords hashed at a lower cost and without the console. */
import { startNode } from '../../../handlers/node.ts'
import { createBufferedLog } from '../../../src/platform/node/observing/buffered-log.ts'
import { quickHashing } from '../../support/service/quick-hashing.ts'

const server = await startNode({ environment: process.env, observe: createBufferedLog(), passwords: quickHashing })
console.log(`Listening on ${server.url}`)
