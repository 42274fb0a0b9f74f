/**
 * The databases of data sources on Workers: those with an HTTP driver. A Worker cannot resolve a name before it
 * connects, so private hosts are refused by name unless they are allowed; the platform itself routes to no private
 * network.
 */
import type { SqlAddress, SqlProvider } from '../../core/sql/address.ts'
import type { SqlDatabases, SqlDriver } from '../../ports.ts'
import { openRefused } from '../drivers/private-host.ts'
import type { Fetch } from '../fetch.ts'
import { isPrivateHost, PrivateHostError } from '../private-hosts.ts'
import { openNeonSource, openPlanetscaleSource } from './lazy-drivers.ts'

const NO_TCP = 'A Worker keeps no TCP connection between requests: use neon or planetscale, or run the service on Node'

export type CloudflareSqlDatabasesOptions = { readonly allowPrivate: boolean; readonly timeLimit?: number }

export function createCloudflareSqlDatabases({ allowPrivate, timeLimit }: CloudflareSqlDatabasesOptions): SqlDatabases {
  const fetcher: Fetch = (url, init) => {
    if (!allowPrivate && isPrivateHost(new URL(url).hostname)) return Promise.reject(new PrivateHostError())
    return fetch(url, { ...init, redirect: 'manual' })
  }
  return {
    unavailable: (provider) => (openers[provider] === undefined ? NO_TCP : undefined),
    open(address): SqlDriver {
      if (!allowPrivate && isPrivateHost(address.host)) return openRefused()
      const open = openers[address.provider]
      if (open === undefined) throw new TypeError(`${address.provider} is unavailable on Workers`)
      return open(address, fetcher, timeLimit)
    },
  }
}

type Opener = (address: SqlAddress, fetcher: Fetch, timeLimit?: number) => SqlDriver

/** Undefined: the provider is unavailable here. */
const openers: Readonly<Record<SqlProvider, Opener | undefined>> = {
  neon: openNeonSource,
  planetscale: openPlanetscaleSource,
  postgres: undefined,
  mysql: undefined,
  mariadb: undefined,
}
