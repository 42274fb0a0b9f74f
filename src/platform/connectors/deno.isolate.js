/**
 * The main program of a connector's Deno process (see node/connectors/process.ts). It reads one JSON text per line from
 * stdin and writes answers and console output to stdout, each line prefixed with the token of the first input line. The
 * host ignores other output.
 * The built-in functions that handle the token are captured before the connector's code runs, which may change every
 * built-in object.
 */

import { useGate } from './deno-network.isolate.js'
import { capturePrinting, createDispatcher } from './dispatch.isolate.js'

const held = Function.prototype.call.bind(Function.prototype.bind, Function.prototype.call)
const read = Deno.stdin.read.bind(Deno.stdin)
const write = Deno.stdout.writeSync.bind(Deno.stdout)
const decode = held(TextDecoder.prototype.decode)
const encode = held(TextEncoder.prototype.encode)
const slice = held(Uint8Array.prototype.subarray)
const indexOf = held(String.prototype.indexOf)
const substring = held(String.prototype.substring)
const then = held(Promise.prototype.then)
const resolve = Promise.resolve.bind(Promise)
const { parse, stringify } = JSON
const decoder = new TextDecoder()
const encoder = new TextEncoder()
const importModule = (address) => import(address)
const addressOf = (code) => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))

/** What code says that may load a module of Node; code that hides it reaches nothing. */
const BUILT_IN = /node:|getBuiltinModule/

let token
let call

// An unhandled rejection must not end the process; it fails its own request at most.
globalThis.addEventListener('unhandledrejection', (event) => event.preventDefault())
globalThis.addEventListener('error', (event) => event.preventDefault())

// The process flags deny storage, so these objects would only fail.
for (const name of ['localStorage', 'sessionStorage', 'caches']) delete globalThis[name]
const printAgain = capturePrinting((...line) => answer(`{"print":${stringify(line)}}`))

function receive(line) {
  const message = parse(line)
  if (token === undefined) {
    token = message.token
    const { code, config, gate } = message
    const useGateOfSockets = useGate(gate)
    const gated = BUILT_IN.test(code) ? useGateOfSockets() : undefined
    call = createDispatcher(() => then(resolve(gated), () => importModule(addressOf(code))), config)
    answer('{}')
  } else if (message.id === undefined) {
    answer('{}')
  } else {
    const { id, method, argument } = message
    printAgain()
    then(call(method, argument), (reply) => answer(`{"id":${id},"reply":${reply}}`))
  }
}

function answer(content) {
  // The leading line end keeps unfinished output of the connector apart from the answer.
  let bytes = encode(encoder, `\n${token} ${content}\n`)
  while (bytes.length > 0) bytes = slice(bytes, write(bytes))
}

const buffer = new Uint8Array(64 * 1024)
let rest = ''
for (;;) {
  const length = await read(buffer)
  if (length === null) break
  rest += decode(decoder, slice(buffer, 0, length), { stream: true })
  for (let end = indexOf(rest, '\n'); end !== -1; end = indexOf(rest, '\n')) {
    const line = substring(rest, 0, end)
    rest = substring(rest, end + 1)
    receive(line)
  }
}
