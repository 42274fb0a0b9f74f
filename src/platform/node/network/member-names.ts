/**
 * Host names that members choose: of data sources, connectors' upstreams and sign-in providers. The platform's `lookup` resolves two
 * names at a time, and one whose servers do not answer takes up to a minute, also when nobody waits any longer. So these names
 * go to the name servers by a resolver that can be ended, however many at once. `lookup` is left names without a dot that only it
 * knows: no member has a name server that would be asked for one.
 */
import { type LookupAddress, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { domainToASCII } from 'node:url'
import { addressesIn, candidatesOf, hostsFile, resolvFile } from './name-files.ts'
import { notResolved, oneAtATime, unknownName } from './one-lookup.ts'

export type MemberNamesDeps = {
  /** Knows all that the system does, and cannot be ended: called for one name at a time. */
  readonly lookup: LookupFunction
  /** A resolver of its own for each name; by default one that asks the system's name servers. */
  readonly resolver?: () => promises.Resolver
  /** The text of the hosts file. */
  readonly hosts?: () => Promise<string>
  /** The text of resolv.conf. */
  readonly resolv?: () => Promise<string>
  /** Milliseconds after which a name has no address. */
  readonly patience?: number
}

const PATIENCE = 10_000

/** What a resolver's failure is called where the name servers did not answer, as opposed to "there is no such name". */
const SILENCE = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECANCELLED', 'ECONNREFUSED', 'EREFUSED'])

/**
 * A `lookup` for `net.connect`: by the hosts file, then by the name servers, in the search domains too. A name without a dot that these
 * do not know is resolved by `deps.lookup`. Fails with ENOTFOUND for what nobody knows, with EAI_AGAIN where name servers do not
 * answer, after `patience` milliseconds at the latest.
 */
export function createMemberLookup(deps: MemberNamesDeps): LookupFunction {
  const { resolver = () => new promises.Resolver(), hosts = hostsFile, resolv = resolvFile, patience = PATIENCE } = deps
  const lookup = oneAtATime(deps.lookup, patience)

  return (host, options, callback) => {
    // Whatever else would write a dot is one from here on.
    const name = domainToASCII(host)
    const one = resolver()
    let isOver = false
    const end: typeof callback = (...answer) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      callback(...answer)
    }
    const timer = setTimeout(() => {
      end(notResolved(host), [])
      one.cancel()
    }, patience)

    /** None where only the system may know some. */
    const resolve = async (): Promise<readonly LookupAddress[]> => {
      const family = familyOf(options.family)
      const isOfFamily = (address: LookupAddress) => family === 0 || family === address.family
      const listed = addressesIn(await hosts(), name).filter(isOfFamily)
      if (listed.length > 0 || name === '') return listed
      let isSilent = false
      for (const candidate of candidatesOf(await resolv(), name)) {
        if (isOver) break
        const found = await ask(one, candidate, family)
        if (found.addresses.length > 0) return found.addresses
        isSilent ||= found.isSilent
      }
      if (isSilent && hasDot(name)) throw notResolved(host)
      return []
    }

    resolve().then(
      (addresses) => {
        const [first] = addresses
        if (first !== undefined) {
          if (options.all === true) end(null, [...addresses])
          else end(null, first.address, first.family)
        } else if (name === '' || hasDot(name)) end(unknownName(host), [])
        else if (!isOver) lookup(name, options, end)
      },
      (error: NodeJS.ErrnoException) => end(error, []),
    )
  }
}

async function ask(resolver: promises.Resolver, name: string, family: LookupFamily) {
  const found = await Promise.allSettled([
    family === 6 ? [] : resolver.resolve4(name).then((all) => all.map((address) => ({ address, family: 4 }))),
    family === 4 ? [] : resolver.resolve6(name).then((all) => all.map((address) => ({ address, family: 6 }))),
  ])
  return {
    addresses: found.flatMap((part) => (part.status === 'fulfilled' ? part.value : [])),
    isSilent: found.some((part) => part.status === 'rejected' && SILENCE.has(part.reason.code)),
  }
}

/** Also one at its end alone makes it a name of no search domain, which has no server of a member either. */
function hasDot(name: string): boolean {
  return name.slice(0, -1).includes('.')
}

type LookupFamily = 0 | 4 | 6

function familyOf(family: Parameters<LookupFunction>[1]['family']): LookupFamily {
  if (family === 4 || family === 'IPv4') return 4
  return family === 6 || family === 'IPv6' ? 6 : 0
}
