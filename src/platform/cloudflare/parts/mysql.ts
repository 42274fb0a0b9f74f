/** A part of the Worker that loads apart (decision 055): MySQL and MariaDB over TCP. */

import type { SqlDriver } from '../../../ports.ts'
import { openMysqlPerRequest } from '../../drivers/mysql/per-request.ts'
import { TcpSocket } from '../tcp-socket.ts'
import type { TcpAddress, TcpOptions } from './tcp-address.ts'

export function openPart({ isTls, isPooled, ...address }: TcpAddress, options: TcpOptions): SqlDriver {
  const socket = () => new TcpSocket({ isTls })
  return openMysqlPerRequest({ ...options, isPooled, address: { ...address, tls: isTls, socket, canCompile: false } })
}
