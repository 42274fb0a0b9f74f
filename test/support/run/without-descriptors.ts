/** Starts a connector's process where no file descriptor is left (`ulimit -n`), and prints what becomes of it. */
import { closeSync, openSync } from 'node:fs'
import { ConnectorProcess } from '../../../src/platform/node/connectors/process.ts'

let revoked = 0
const pass = {
  port: 1,
  pass: 'any',
  revoke: () => {
    revoked += 1
  },
}
const program = { id: 'any', code: '', config: {}, grant: [] }
const limits = { memoryLimit: 64, timeLimit: 1_000, idleLimit: 1_000 }
const open: number[] = []
try {
  for (;;) open.push(openSync('/dev/null', 'r'))
} catch {
  // None is left.
}
let reason = 'started'
try {
  new ConnectorProcess('/bin/true', program as never, { limits, print: () => {}, pass } as never)
} catch (error) {
  reason = (error as Error).message
}
for (const descriptor of open) closeSync(descriptor)
setTimeout(() => console.log(`${reason}, ${revoked} revoked`), 100)
