/** Loaded before a Node program: appends every address that it connects to, and every name that it looks up, to a file. */
import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const file = process.env.RECORDED_CONNECTIONS ?? ''
const record = (line: string) => appendFileSync(file, `${line}\n`)

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function (this: net.Socket, ...given: unknown[]) {
  // Node's own callers hand over their arguments as one list.
  const [first, second] = Array.isArray(given[0]) ? (given[0] as unknown[]) : given
  const { host, port, path } =
    typeof first === 'object' ? (first as net.TcpSocketConnectOpts & { path?: string }) : { host: second, port: first }
  record(path ?? `${host ?? 'localhost'}:${port}`)
  return Reflect.apply(connect, this, given) as net.Socket
} as typeof connect

const { lookup } = dns
dns.lookup = ((...given: unknown[]) => {
  record(`lookup ${given[0]}`)
  return Reflect.apply(lookup, dns, given) as unknown
}) as typeof lookup
dgram.Socket.prototype.send = () => record('datagram')
syncBuiltinESMExports()
record('begun')
