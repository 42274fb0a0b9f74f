/** Where a part that speaks TCP connects to, and what it needs of the Worker. */
import type { RequestEnd } from '../../drivers/lending.ts'

export type TcpAddress = {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string | undefined
  readonly isTls: boolean
  /** Whether sessions are shared by a pooler, such as Hyperdrive, so that settings end with a transaction. */
  readonly isPooled: boolean
}

export type TcpDeps = {
  readonly address: TcpAddress
  /** In milliseconds, for statements with a client; 0 means no limit. */
  readonly timeLimit: number
  readonly request: () => RequestEnd | undefined
}
