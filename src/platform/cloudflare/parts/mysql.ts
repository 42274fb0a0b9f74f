/** A part of the Worker that loads apart (decision 055): MySQL and MariaDB over TCP. */

import type { ConversingDriver } from '../../../ports/database.ts'
import { openMysqlPerRequest } from '../../drivers/mysql/per-request.ts'
import { TcpSocket } from '../tcp-socket.ts'
import type { TcpDeps } from './tcp-address.ts'

export function openPart(deps: TcpDeps): ConversingDriver {
  const {
    address: { isTls, isPooled, ...address },
    ...rest
  } = deps
  const socket = () => new TcpSocket({ isTls })
  return openMysqlPerRequest({ ...rest, isPooled, address: { ...address, tls: isTls, socket, canCompile: false } })
}
