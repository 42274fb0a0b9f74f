/**
 * Bounds how many connections to the gate connectors hold, since each may have sent most of a head that is in memory: those whose
 * first head is not there yet, of which the oldest makes room, and those of each pass. So none takes the place of another.
 */
import type { Duplex } from 'node:stream'

export type GateConnections = {
  /** Counts a connection whose head is not there yet. */
  begin(socket: Duplex): void
  /** Counts it as one of these instead; returns false where there are too many. */
  claim(socket: Duplex, ofPass: Set<Duplex>): boolean
}

/** More than anybody uses at once who means it. */
const MOST = 1_024

export function createGateConnections(): GateConnections {
  const arriving = new Set<Duplex>()
  /** Which of the sets a connection is in. */
  const counted = new WeakMap<Duplex, Set<Duplex>>()

  function count(socket: Duplex, among: Set<Duplex>): void {
    counted.get(socket)?.delete(socket)
    counted.set(socket, among)
    among.add(socket)
  }

  return {
    begin(socket) {
      count(socket, arriving)
      socket.once('close', () => counted.get(socket)?.delete(socket))
      const [oldest] = arriving
      if (arriving.size > MOST) oldest?.destroy()
    },

    claim(socket, ofPass) {
      if (ofPass.has(socket)) return true
      if (ofPass.size === MOST) return false
      count(socket, ofPass)
      return true
    },
  }
}
