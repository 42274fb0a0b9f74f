/** The databases of data sources on Node: all providers, including the HTTP ones. */
import type { SqlAddress } from '../../../core/sql/address.ts'
import type { SqlDatabases, SqlDriver, TargetRefusal } from '../../../ports/database.ts'
import { openMysql } from '../../drivers/mysql.ts'
import { neonUrl, openNeon } from '../../drivers/neon.ts'
import { openPlanetscale } from '../../drivers/planetscale.ts'
import { openPostgres } from '../../drivers/postgres/driver.ts'
import { openRefused } from '../../drivers/private-host.ts'
import { isPrivateHost } from '../../private-hosts.ts'
import { databasePassword, type IamOptions } from './aws-iam.ts'
import { createNetwork, type NetworkOptions } from './network.ts'
import { certificatesFor } from './regional-certificates.ts'

export type NodeSqlDatabasesOptions = {
  readonly allowPrivate: boolean
  /** Time limit in milliseconds for statements with a client; 0 means no limit. */
  readonly timeLimit?: number
  readonly environment: IamOptions['environment']
  readonly awsRoles?: IamOptions['awsRoles']
  /** Resolves names; by default the platform's `lookup`. */
  readonly resolve?: NetworkOptions['resolve']
}

const NO_HYPERDRIVE: TargetRefusal = {
  member: 'hyperdrive',
  reason: 'names a binding of a Worker, and this instance runs on Node: give the address of the database',
}

export function createNodeSqlDatabases({
  environment,
  awsRoles = [],
  timeLimit = 0,
  ...options
}: NodeSqlDatabasesOptions): SqlDatabases {
  const { socket, fetch } = createNetwork(options)

  const overTcp = (address: SqlAddress) => {
    const { host, port, user, tls } = address
    const ca = tls.kind === 'verify' ? (tls.ca ?? certificatesFor(host)) : undefined
    const password = databasePassword(address, { fetch, environment, awsRoles })
    return { host, port, user, password, tls: tls.kind === 'verify' && { ca }, socket }
  }

  return {
    refusal: (target) => ('hyperdrive' in target ? NO_HYPERDRIVE : undefined),
    open(address): SqlDriver {
      if ('hyperdrive' in address) throw new TypeError(NO_HYPERDRIVE.reason)
      const { provider, database, host } = address
      if (!options.allowPrivate && isPrivateHost(host)) return openRefused()
      switch (provider) {
        case 'postgres':
          return openPostgres({ address: { ...overTcp(address), database: database ?? '' }, timeLimit })
        case 'mysql':
        case 'mariadb':
          return openMysql({ ...overTcp(address), database, timeLimit })
        case 'neon':
          return openNeon({ connectionString: neonUrl(address), wayOut: fetch, timeLimit })
        case 'planetscale':
          return openPlanetscale({ address, wayOut: fetch, timeLimit })
        default:
          return provider satisfies never
      }
    },
  }
}
