/**
 * `fetch`, `WebSocket` and `node:net` in a connector's Deno process, routed through the gate (node/connectors/gate.ts),
 * the only address that the process may connect to. A target outside the grant fails at once with an error named
 * NotCapable; the gate checks again, so code that bypasses this file gains nothing.
 */
import { isGranted } from '../../core/connector/target.ts'

const { fetch: send, WebSocket: PlainWebSocket, Request, Headers, URL } = globalThis
const { NotCapable } = Deno.errors
const DENIED = 'x-connector-gate-denied'
const FAILED = 'x-connector-gate-failed'
const MOST_HOPS = 20
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const PORTS = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 }

/**
 * Installs the functions. `gate` holds the gate's port, the pass of this process and the grant. Returns what does so for
 * `node:net`, of which Deno loads as much as of all else of a start.
 */
export function useGate({ port: gatePort, pass, grant }) {
  const root = `http://127.0.0.1:${gatePort}/${pass}/`

  function require(host, port) {
    if (!isGranted(grant, host, port)) throw new NotCapable(`Requires net access to "${host}:${port}"`)
  }

  function requireUrl({ hostname, port, protocol }) {
    require(hostname, port === '' ? PORTS[protocol] : Number(port))
  }

  async function hop(url, { method, headers, body, signal }) {
    requireUrl(url)
    const address = new URL(url)
    address.hash = ''
    const answer = await send(root + encodeURIComponent(address.href), {
      method,
      headers,
      body,
      signal,
      redirect: 'manual',
    })
    const denied = answer.headers.get(DENIED)
    const failed = answer.headers.get(FAILED)
    if (denied === null && failed === null) return answer
    await answer.body?.cancel()
    throw denied === null ? new TypeError(`fetch failed: ${failed}`) : new NotCapable(denied)
  }

  globalThis.fetch = async function fetch(input, init) {
    const request = new Request(input, init)
    let url = new URL(request.url)
    if (!(url.protocol in PORTS)) return send(input, init)
    let { method } = request
    const headers = new Headers(request.headers)
    const { signal, redirect } = request
    let body = request.body === null ? undefined : await request.arrayBuffer()
    for (let hops = 0; ; hops++) {
      const answer = await hop(url, { method, headers, body, signal })
      const location = answer.headers.get('location')
      if (!REDIRECTS.has(answer.status) || location === null || redirect === 'manual')
        return withAddress(answer, url, hops > 0)
      await answer.body?.cancel()
      if (redirect === 'error' || hops === MOST_HOPS) throw new TypeError('fetch failed: redirected too often')
      const next = new URL(location, url)
      if (next.protocol !== 'http:' && next.protocol !== 'https:')
        throw new TypeError('fetch failed: redirected elsewhere')
      if (next.origin !== url.origin) for (const name of ['authorization', 'cookie']) headers.delete(name)
      if (answer.status === 303 ? method !== 'HEAD' : answer.status < 303 && method === 'POST') {
        method = 'GET'
        body = undefined
        for (const name of ['content-type', 'content-length', 'content-encoding']) headers.delete(name)
      }
      url = next
    }
  }

  globalThis.WebSocket = class WebSocket extends PlainWebSocket {
    #address

    constructor(address, protocols) {
      const url = new URL(address)
      if (!(url.protocol in PORTS)) throw new DOMException('not the address of a WebSocket', 'SyntaxError')
      requireUrl(url)
      const target = url.href.replace(/^ws/, 'http')
      super(root.replace('http:', 'ws:') + encodeURIComponent(target), protocols)
      this.#address = url.href
    }

    get url() {
      return this.#address
    }
  }

  return async function useGateOfSockets() {
    const { default: net } = await import('node:net')
    const { connect } = net.Socket.prototype
    net.Socket.prototype.connect = function (...parameters) {
      const [options, listener] = placeOf(parameters)
      const { host, port, path, ...others } = options
      try {
        if (path) throw new NotCapable('Requires net access to a socket')
        if (this.encrypted) throw new TypeError('TLS is spoken by fetch, or over a socket that is connected')
        require(host, Number(port))
      } catch (error) {
        // A socket that is not connecting counts as connected.
        this.connecting = true
        queueMicrotask(() => this.destroy(error))
        return this
      }
      const place = net.isIPv6(host) ? `[${host}]` : host
      connect.call(this, { ...others, host: '127.0.0.1', port: gatePort, lookup: undefined, family: 4 }, listener)
      this.write(`CONNECT ${place}:${port} HTTP/1.1\r\nHost: gate\r\nX-Connector-Gate-Pass: ${pass}\r\n\r\n`)
      return this
    }
  }
}

function withAddress(answer, url, redirected) {
  return Object.defineProperties(answer, { url: { value: url.href }, redirected: { value: redirected } })
}

/** The forms of `connect`: port, host and listener; options and listener; or both in an array. */
function placeOf([first, second, third]) {
  if (Array.isArray(first)) return placeOf(first)
  const listener = [second, third].find((one) => typeof one === 'function')
  if (typeof first === 'object' && first !== null) return [{ host: 'localhost', ...first }, listener]
  if (typeof first === 'string' && !/^\d+$/.test(first)) return [{ path: first }, listener]
  return [{ port: first, host: typeof second === 'string' ? second : 'localhost' }, listener]
}
