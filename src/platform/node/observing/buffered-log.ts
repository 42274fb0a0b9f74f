/**
 * The log of a Node process: lines of one turn of the event loop are written together, because a write per request
 * costs more than answering it from memory. What went wrong is written at once.
 */
import type { Observe } from '../../../ports.ts'
import { observeAsLines } from '../../log-lines.ts'

export function createBufferedLog(): Observe {
  let lines: string[] = []

  function flush(): void {
    process.stdout.write(`${lines.join('\n')}\n`)
    lines = []
  }

  return observeAsLines((line, isTrouble) => {
    if (isTrouble) process.stderr.write(`${line}\n`)
    else if (lines.push(line) === 1) setImmediate(flush)
  })
}
