/**
 * The databases of data sources on Workers, over HTTP and TCP. A Worker cannot resolve a name before it connects, so
 * private hosts are refused by name unless they are allowed; the platform itself routes to no private network.
 */
import type { SqlAddress } from '../../core/sql/address.ts'
import { NOT_A_BINDING } from '../../core/sql/hyperdrive.ts'
import type { SqlDatabases, SqlDriver, TargetRefusal } from '../../ports/database.ts'
import { openRefused } from '../drivers/private-host.ts'
import type { Fetch } from '../fetch.ts'
import { isPrivateHost, PrivateHostError } from '../private-hosts.ts'
import { openNeonSource, openPlanetscaleSource, openTcpSource } from './lazy-drivers.ts'
import type { TcpAddress } from './parts/tcp-address.ts'

export type CloudflareSqlDatabasesOptions = {
  readonly allowPrivate: boolean
  readonly timeLimit?: number
  /** Holds the Hyperdrive bindings. */
  readonly bindings?: Readonly<Record<string, unknown>>
}

export function createCloudflareSqlDatabases(options: CloudflareSqlDatabasesOptions): SqlDatabases {
  const { allowPrivate, timeLimit, bindings = {} } = options
  const fetcher: Fetch = (url, init) => {
    if (!allowPrivate && isPrivateHost(new URL(url).hostname)) return Promise.reject(new PrivateHostError())
    return fetch(url, { ...init, redirect: 'manual' })
  }
  return {
    refusal: (target) =>
      'hyperdrive' in target ? bindingRefusal(bindings[target.hyperdrive]) : addressRefusal(target),
    open(target): SqlDriver {
      if ('hyperdrive' in target)
        return openTcpSource({ provider: target.provider, address: pooled(bindings[target.hyperdrive]), timeLimit })
      const { provider, host } = target
      if (!allowPrivate && isPrivateHost(host)) return openRefused()
      switch (provider) {
        case 'neon':
          return openNeonSource({ address: target, wayOut: fetcher, timeLimit })
        case 'planetscale':
          return openPlanetscaleSource({ address: target, wayOut: fetcher, timeLimit })
        default:
          return openTcpSource({ provider, address: direct(target), timeLimit })
      }
    },
  }
}

const ON_NODE = 'a Worker trusts public certificate authorities only: run the service on Node, or use Hyperdrive'

function addressRefusal({ auth, tls }: SqlAddress): TargetRefusal | undefined {
  // Databases of AWS have certificates of Amazon's own authorities, and take tokens over TLS alone.
  if (auth.kind === 'awsIam') return { member: 'auth', reason: `needs the authorities of AWS, and ${ON_NODE}` }
  if (tls.kind === 'verify' && tls.ca !== undefined) return { member: 'tls.ca', reason: `is not supported: ${ON_NODE}` }
  return undefined
}

function direct({ auth, tls, ...address }: SqlAddress): TcpAddress {
  const password = auth.kind === 'password' ? auth.password : ''
  return { ...address, password, isTls: tls.kind === 'verify', isPooled: false }
}

function bindingRefusal(binding: unknown): TargetRefusal | undefined {
  return isHyperdrive(binding) ? undefined : { member: 'hyperdrive', reason: NOT_A_BINDING }
}

/** The way from the Worker to Hyperdrive is the platform's own, without TLS. */
function pooled(binding: unknown): TcpAddress {
  if (!isHyperdrive(binding)) throw new TypeError(NOT_A_BINDING)
  const { host, port, user, password, database } = binding
  return { host, port, user, password, database, isTls: false, isPooled: true }
}

function isHyperdrive(binding: unknown): binding is Hyperdrive {
  return typeof binding === 'object' && binding !== null && 'connectionString' in binding && 'port' in binding
}
