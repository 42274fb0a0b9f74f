/** A part of the Worker that loads apart (decision 055): PostgreSQL over TCP. */

import type { SqlDriver } from '../../../ports.ts'
import { openPostgresPerRequest } from '../../drivers/postgres/per-request.ts'
import { TcpSocket } from '../tcp-socket.ts'
import type { TcpAddress, TcpOptions } from './tcp-address.ts'

export function openPart({ isTls, isPooled, database = '', ...address }: TcpAddress, options: TcpOptions): SqlDriver {
  const tls = isTls && { ca: undefined }
  const socket = () => new TcpSocket({ isTls })
  return openPostgresPerRequest({ ...options, isPooled, address: { ...address, database, tls, socket } })
}
