/**
 * The thread that ends the process of the embedded database when its parent has ended, however that was: the other end
 * of this pipe, which only the parent holds, is closed then. The main thread cannot do that while a statement runs.
 */
import { Socket } from 'node:net'

const TETHER = 4

new Socket({ fd: TETHER })
  .on('error', () => {})
  .on('close', () => process.kill(process.pid, 'SIGKILL'))
  .resume()
