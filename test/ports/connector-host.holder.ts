/** Starts a connector, prints the number of its process, and waits to be killed; see connector-host.node.test.ts. */
import { createNodeConnectorHost } from '../../src/platform/node/connectors/host.ts'

const host = createNodeConnectorHost({
  timeLimit: 60_000,
  busyLimit: 60_000,
  idleLimit: 60_000,
  memoryLimit: 64,
  allowPrivate: true,
})
const code = `const setup = () => ({ query: ({ loop }) => { if (loop) for (;;); return import('node:process').then(({ pid }) => pid) } })
export { setup };`
const session = host.open({ id: 'held', code, grant: [], config: null })
const reply = await session.call('query', {})
// Busy for ever, so that it would not see that its input ends.
void session.call('query', { loop: true })
console.log(reply.kind === 'value' ? reply.value : -1)
setInterval(() => {}, 1_000)
