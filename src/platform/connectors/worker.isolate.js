/**
 * The main module of a connector's loaded Worker (see cloudflare/connector-host.ts). The gate is its only way out; this
 * makes what the gate refuses an error named NotCapable, as on Deno. Who goes around the wrapper still meets the gate.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { capturePrinting, createConductor } from './conduct.js'
import { load } from './connector.js'

const MARKER = 'x-connector-gate-denied'
const { fetch: request, JSON: json } = globalThis
const { parse } = json

class NotCapable extends Error {
  name = 'NotCapable'
}

globalThis.fetch = async (...parameters) => {
  const response = await request(...parameters)
  const denied = response.headers.get(MARKER)
  if (denied === null) return response
  await response.body?.cancel()
  throw new NotCapable(`Requires net access to "${denied}"`)
}

// The zone's cache is the same for all.
delete globalThis.caches

let call
let lines = []
const printAgain = capturePrinting((...line) => lines.push(line))

export default class extends WorkerEntrypoint {
  /** The text of the reply, and what was printed since the last one. */
  async call(method, argument) {
    printAgain()
    call ??= createConductor(load, parse(this.env.config))
    const text = await call(method, argument === undefined ? undefined : parse(argument))
    const printed = lines
    lines = []
    return { text, printed }
  }
}
