/** A part of the Worker that loads apart (decision 055): PostgreSQL over TCP. */

import type { SqlDriver } from '../../../ports/database.ts'
import { openPostgresPerRequest } from '../../drivers/postgres/per-request.ts'
import { TcpSocket } from '../tcp-socket.ts'
import type { TcpDeps } from './tcp-address.ts'

export function openPart(deps: TcpDeps): SqlDriver {
  const {
    address: { isTls, isPooled, database = '', ...address },
    ...rest
  } = deps
  const tls = isTls && { ca: undefined }
  const socket = () => new TcpSocket({ isTls })
  return openPostgresPerRequest({ ...rest, isPooled, address: { ...address, database, tls, socket } })
}
