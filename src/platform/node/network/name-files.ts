/** What the system's files say of names: hosts(5) and resolv.conf(5), or nothing where they are missing. */
import type { LookupAddress } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

const HOSTS = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'

export const hostsFile = () => readFile(HOSTS, 'utf8').catch(() => '')
export const resolvFile = () => readFile('/etc/resolv.conf', 'utf8').catch(() => '')

/** The addresses that a hosts file has for a name. */
export function addressesIn(hosts: string, name: string): readonly LookupAddress[] {
  return wordsOf(hosts.replaceAll(/#.*/g, '')).flatMap(([address = '', ...names]) => {
    const isOfIt = isIP(address) !== 0 && names.some((each) => each.toLowerCase() === name.toLowerCase())
    return isOfIt ? [{ address, family: isIP(address) }] : []
  })
}

/** The names by which name servers are asked for a name, in the order of resolv.conf(5): its own and those in search domains. */
export function candidatesOf(resolv: string, name: string): readonly string[] {
  if (name.endsWith('.')) return [name]
  let search: readonly string[] = []
  let ndots = 1
  for (const [keyword, ...values] of wordsOf(resolv)) {
    if (keyword === 'search') search = values
    else if (keyword === 'domain') search = values.slice(0, 1)
    else if (keyword === 'options') ndots = Number(/ ndots:(\d+)/.exec(` ${values.join(' ')}`)?.[1] ?? ndots)
  }
  // The root has the name itself.
  const searched = search.filter((domain) => domain !== '.').map((domain) => `${name}.${domain.replace(/\.$/, '')}`)
  return name.split('.').length > ndots ? [name, ...searched] : [...searched, name]
}

function wordsOf(text: string): readonly (readonly string[])[] {
  return text.split('\n').map((line) => line.trim().split(/\s+/))
}
