/** Hosts of the local machine, and hosts in whichever spelling. */
import { parseAddress } from './network.ts'
import { withoutTrailing } from './trailing.ts'

/** Returns true if a host, with or without the brackets of an IPv6 address, means the local machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}

/** One name for a machine, however its host is spelled: `2130706433`, `0x7f.1` and `0.0.0.0` are `localhost`. */
export function machineOf(host: string): string {
  const name = withoutTrailing(host.toLowerCase().replace(/^\[(.*)\]$/, '$1'), '.')
  const written = name.includes(':') ? name : (URL.parse(`http://${name}`)?.hostname ?? name)
  const machine = parseAddress(written)?.text ?? written
  return isLoopback(machine) || machine === '0.0.0.0' || machine === '::' ? 'localhost' : machine
}
