/**
 * Host names that members choose: of data sources, connectors' upstreams and sign-in providers. The platform's `lookup` resolves two
 * names at a time, and one whose servers do not answer takes up to a minute, also when nobody waits any longer. So these names
 * go to the name servers by a resolver that can be ended, however many at once; `lookup` is left what only it knows.
 */
import { type LookupAddress, promises } from 'node:dns'
import { readFile } from 'node:fs/promises'
import type { LookupFunction } from 'node:net'
import { domainToASCII } from 'node:url'
import { notResolved, oneAtATime } from './one-lookup.ts'

export type MemberNamesDeps = {
  /** Knows hosts files, search domains and multicast names, and cannot be ended: called for one name at a time. */
  readonly lookup: LookupFunction
  /** A resolver of its own for each name; by default one that asks the system's name servers. */
  readonly resolver?: () => promises.Resolver
  /** The text of the hosts file. */
  readonly hosts?: () => Promise<string>
  /** Milliseconds after which a name has no address. */
  readonly patience?: number
}

const PATIENCE = 10_000

const HOSTS = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'

/** What a resolver's failure is called where the name servers did not answer, as opposed to "there is no such name". */
const SILENCE = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECANCELLED'])

/**
 * A `lookup` for `net.connect`. Fails with EAI_AGAIN after `patience` milliseconds without an answer. Names without a dot, names of
 * the hosts file, and names that the name servers do not know are resolved by `deps.lookup`.
 */
export function createMemberLookup(deps: MemberNamesDeps): LookupFunction {
  const { resolver = () => new promises.Resolver(), hosts = hostsFile, patience = PATIENCE } = deps
  const lookup = oneAtATime(deps.lookup, patience)

  const isOfSystem = async (host: string) =>
    !host.slice(0, -1).includes('.') || names(await hosts()).has(host.toLowerCase())

  const addressesOf = async (host: string, family: LookupFamily): Promise<readonly LookupAddress[]> => {
    const one = resolver()
    const timer = setTimeout(() => one.cancel(), patience)
    const name = domainToASCII(host)
    const found = await Promise.allSettled([
      family === 6 ? [] : one.resolve4(name).then((all) => all.map((address) => ({ address, family: 4 }))),
      family === 4 ? [] : one.resolve6(name).then((all) => all.map((address) => ({ address, family: 6 }))),
    ])
    clearTimeout(timer)
    const addresses = found.flatMap((part) => (part.status === 'fulfilled' ? part.value : []))
    const isSilent = found.some((part) => part.status === 'rejected' && SILENCE.has(part.reason.code))
    if (addresses.length === 0 && isSilent) throw notResolved(host)
    return addresses
  }

  return (host, options, callback) => {
    const resolve = async () => ((await isOfSystem(host)) ? [] : addressesOf(host, familyOf(options.family)))
    resolve().then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined) lookup(host, options, callback)
        else if (options.all === true) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}

type LookupFamily = 0 | 4 | 6

function familyOf(family: Parameters<LookupFunction>[1]['family']): LookupFamily {
  if (family === 4 || family === 'IPv4') return 4
  return family === 6 || family === 'IPv6' ? 6 : 0
}

/** Every host name of the hosts file. */
function names(hosts: string): ReadonlySet<string> {
  const entries = hosts.split('\n').map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
  return new Set(entries.flatMap(([, ...all]) => all))
}

const hostsFile = () => readFile(HOSTS, 'utf8').catch(() => '')
