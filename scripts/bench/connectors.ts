/**
 * Measures the overhead of a connector call on both platforms, and the memory of an idle connector process. The
 * connector returns its input.
 */
import { readFileSync } from 'node:fs'
import { createNodeConnectorHost } from '../../src/platform/node/connectors/host.ts'
import { readIsolateRuntime } from '../../src/platform/node/connectors/isolate-runtime.ts'
import { bundleBare } from './bundle.ts'
import { median } from './compare.ts'
import { prepareIsolate } from './isolate.ts'

export type CallCost = { readonly median: number; readonly worst: number }

const code = `const setup = () => ({ query: (request) => request, testConnection: () => import('node:process').then(({ pid }) => pid) })
export { setup };`

const WARM_UP = 500
const CALLS = 2_000

/** Returns milliseconds per sequential call, and the memory of the process in MB. */
export async function measureDenoCalls(): Promise<CallCost & { readonly megabytes: number }> {
  const limits = { timeLimit: 30_000, busyLimit: 10_000, idleLimit: 60_000, memoryLimit: 64, allowPrivate: false }
  const host = createNodeConnectorHost(limits)
  const session = host.open({ id: 'bench', code, grant: [], config: null })
  try {
    const times: number[] = []
    for (let call = 0; call < WARM_UP + CALLS; call += 1) {
      const start = performance.now()
      const reply = await session.call('query', { call })
      times.push(performance.now() - start)
      if (reply.kind !== 'value') throw new Error(`the connector answered ${JSON.stringify(reply)}`)
    }
    const pid = await session.call('testConnection')
    if (pid.kind !== 'value') throw new Error('the connector did not tell its process')
    return { ...costOf(times.slice(WARM_UP)), megabytes: residentMegabytes(Number(pid.value)) }
  } finally {
    await host.close()
  }
}

/** A Worker's clock stands still while it computes, so many calls are timed from outside. */
export async function measureLoaderCalls(): Promise<CallCost> {
  const json = { RUNTIME: readIsolateRuntime() }
  const bundle = await bundleBare('connector-worker.ts')
  const prepared = await prepareIsolate({ bundle, json, variables: { CODE: code }, loaders: ['LOADER'] })
  try {
    const isolate = await prepared.start()
    try {
      const time = async (calls: number) => {
        const start = performance.now()
        const response = await fetch(`http://127.0.0.1:${isolate.port}/?calls=${calls}`)
        if ((await response.text()) !== 'called') throw new Error(`the Worker answered ${response.status}`)
        return performance.now() - start
      }
      await time(WARM_UP)
      const times: number[] = []
      for (let round = 0; round < 40; round += 1) times.push((await time(100)) / 100)
      return costOf(times)
    } finally {
      await isolate.close()
    }
  } finally {
    await prepared.remove()
  }
}

function costOf(times: readonly number[]): CallCost {
  return { median: median(times), worst: Math.max(...times) }
}

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
