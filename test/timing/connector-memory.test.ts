/** What an idle connector takes of memory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createNodeConnectorHost, requireDeno } from '../../src/platform/node/connectors/host.ts'

const limits = { timeLimit: 30_000, busyLimit: 10_000, idleLimit: 60_000, memoryLimit: 64, allowPrivate: true }
const program = {
  id: 'acting',
  code: readFileSync(join(import.meta.dirname, '../ports/connector-host.acting.js'), 'utf8'),
  grant: [],
  config: null,
}

// What Deno itself takes differs from machine to machine; how much the process takes in all is a figure of the benchmark.
it('needs hardly more memory without a call than Deno itself', async () => {
  const host = createNodeConnectorHost(limits)
  const session = host.open(program)
  await session.call('query', { act: 'answer' })
  const reply = await session.call('query', { act: 'pid' })
  const [pid] = (reply as { value: readonly number[] }).value
  const code = `console.log('here'); await Deno.stdin.read(new Uint8Array(1))`
  const bare = spawn(requireDeno(), ['eval', '--no-config', code], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(bare.stdout, 'data')

  const [ours, theirs] = [residentMegabytes(pid ?? 0), residentMegabytes(bare.pid ?? 0)]
  bare.kill('SIGKILL')
  await host.close()

  console.log(`an idle connector: ${ours.toFixed(0)} MB, Deno itself ${theirs.toFixed(0)} MB`)
  expect(theirs).toBeGreaterThan(10)
  expect(ours / theirs).toBeLessThan(1.5)
})

function residentMegabytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+)/m)?.[1]) / 1024
}
