/**
 * The main module of a connector's loaded Worker (see cloudflare/connector-host.ts). The gate is its only network
 * access; this module turns the gate's refusals into errors named NotCapable, as on Deno. Code that bypasses it still
 * meets the gate.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { load } from './connector.js'
import { capturePrinting, createDispatcher } from './dispatch.js'

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

// The zone's cache would be shared by all connectors.
delete globalThis.caches

let call
let lines = []
const printAgain = capturePrinting((...line) => lines.push(line))

export default class extends WorkerEntrypoint {
  /** Returns the reply's text, and the lines printed since the last call. */
  async call(method, argument) {
    printAgain()
    call ??= createDispatcher(load, parse(this.env.config))
    const text = await call(method, argument === undefined ? undefined : parse(argument))
    const printed = lines
    lines = []
    return { text, printed }
  }
}
