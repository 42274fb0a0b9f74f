/**
 * The log of a Node process. Lines of one event loop turn are written together, since a write costs more than answering
 * a request from memory. Errors and warnings are written at once.
 */
import type { Observe } from '../../../ports/observe.ts'
import { observeAsLines } from '../../log-lines.ts'

export function createBufferedLog(): Observe {
  let lines: string[] = []

  function flush(): void {
    process.stdout.write(`${lines.join('\n')}\n`)
    lines = []
  }

  return observeAsLines((line, isProblem) => {
    if (isProblem) process.stderr.write(`${line}\n`)
    else if (lines.push(line) === 1) setImmediate(flush)
  })
}
