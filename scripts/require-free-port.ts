/** Checks that a port is free before a server is started for it. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Port 0 is always free. Throws an Error that says what to change. */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Error(`${host}:${port} is in use by another program; set PORT to a free port`, { cause })
  }
  server.close()
  await once(server, 'close')
}
